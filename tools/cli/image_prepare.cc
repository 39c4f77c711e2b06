#include "tools/cli/image_prepare.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "emulator/rpc/client.h"
#include "tools/cli/progress.h"

namespace tfemu::cli {
namespace {

Result<void> PrepareOne(Session& session, rpc::Client& client, const std::string& reference) {
  rpc::v1::FindImageRequest request;
  request.set_reference(reference);
  ASSIGN_OR_RETURN(const auto image, client.Call(&rpc::Stub::FindImage, request));
  if (image.ready()) return {};
  session.terminal.Note("making the image " + reference + " ready (once)");
  Result<void> outcome;
  const auto call = client.PrepareImage(session.executor(), request,
                                        {.message =
                                             [&](rpc::v1::PrepareReply& step) {
                                               const std::string line =
                                                   FormatProgress(step.done(), step.total(), step.text());
                                               if (session.terminal.interactive())
                                                 session.terminal.Status(line);
                                               else session.terminal.Note(line);
                                             },
                                         .done =
                                             [&](const Result<void>& result) {
                                               outcome = result;
                                               session.context().stop();
                                             }});
  boost::asio::signal_set signals(session.context(), SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) call->Cancel();
  });
  session.context().run();
  session.context().restart();
  session.terminal.ClearStatus();
  return outcome;
}

}  // namespace

Result<void> PrepareImages(Session& session, const std::vector<std::string>& references) {
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  for (const auto& reference : references) RETURN_IF_ERROR(PrepareOne(session, *client, reference));
  return {};
}

}  // namespace tfemu::cli
