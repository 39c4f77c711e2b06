// tfemu logs.
#include <CLI/CLI.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include "emulator/base/time_format.h"
#include "emulator/rpc/client.h"
#include "tools/cli/log_printer.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::string target, selector, container, since, since_time;
  bool follow = false, previous = false, timestamps = false, all_containers = false, no_prefix = false;
  std::optional<int64_t> tail;
};

Result<rpc::v1::LogsRequest> MakeRequest(const Session& session, const Options& options) {
  rpc::v1::LogsRequest request;
  request.set_ns(session.ns());
  if (!options.target.empty()) {
    ASSIGN_OR_RETURN(const auto target, ParseTarget(options.target, "Pod"));
    *request.add_targets() = ToMessage(KeyOf(target, session.ns()));
  }
  request.set_selector(options.selector);
  request.set_container(options.container);
  request.set_all_containers(options.all_containers);
  request.set_follow(options.follow);
  request.set_previous(options.previous);
  request.set_timestamps(options.timestamps);
  if (options.tail && *options.tail >= 0) request.set_tail(*options.tail);
  if (!options.since.empty()) {
    const auto age = ParseDuration(options.since);
    if (!age)
      return Error{Reason::kBadRequest, "not a duration: \"" + options.since + "\"",
                   "write it like 90s, 5m, 1h"};
    request.set_since_ns((session.Now() + Duration(-age->count())).ns);
  }
  if (!options.since_time.empty()) {
    const auto time = ParseTime(options.since_time);
    if (!time)
      return Error{Reason::kBadRequest, "not a time: \"" + options.since_time + "\"",
                   "write it like 2026-11-30T18:32:45Z"};
    request.set_since_ns(time->ns);
  }
  return request;
}

int Logs(Session& session, const Options& options) {
  if (options.target.empty() == options.selector.empty())
    return session.Usage("logs of what?", "name a POD, a KIND/NAME, or labels with -l");
  const auto request = MakeRequest(session, options);
  if (!request.ok()) return session.Usage(request.error().message, request.error().hint);
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const bool several = request.value().targets_size() == 0 || request.value().targets(0).kind() != "Pod";
  LogPrinter printer(session.terminal, {.prefix = !options.no_prefix && (several || options.all_containers),
                                        .containers = options.all_containers});
  int code = kOk;
  const auto call = client.value()->Logs(session.executor(), request.value(),
                                         {.message =
                                              [&](rpc::v1::LogsReply& reply) {
                                                if (!printer.Print(reply)) session.context().stop();
                                              },
                                          .done =
                                              [&](const Result<void>& result) {
                                                printer.Finish();
                                                if (!result.ok()) code = session.Fail(result.error());
                                                session.context().stop();
                                              }});
  const auto keep_running = boost::asio::make_work_guard(session.context());
  session.context().run();
  call->Cancel();
  return code;
}

}  // namespace

void AddLogs(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("logs", "Show what containers wrote, also of pods that are gone");
  verb->add_option("target", options->target, "POD, tfjob/NAME, job/NAME, deployment/NAME");
  verb->add_option("-l,--selector", options->selector, "All pods with these labels");
  verb->add_option("-c,--container", options->container, "This container instead of the pod's first");
  verb->add_flag("--all-containers", options->all_containers, "Of every container of the pod");
  verb->add_flag("-f,--follow", options->follow, "Go on with what is written, until the pods are over");
  verb->add_option("--tail", options->tail, "Only the last lines of each container");
  verb->add_flag("-p,--previous", options->previous, "Of the attempt before the last restart");
  verb->add_flag("--timestamps", options->timestamps, "The time in front of each line");
  verb->add_option("--since", options->since, "Only newer than this: 90s, 5m, 1h");
  verb->add_option("--since-time", options->since_time, "Only after this time (RFC 3339)");
  verb->add_flag("--no-prefix", options->no_prefix, "No names in front of the lines of several pods");
  verb->footer(
      "Examples:\n  tfemu logs tf-mnist-gpu-master-0 --tail=150\n  tfemu logs tfjob/tf-mnist-gpu -f\n"
      "  tfemu logs -l app=tensorboard --since 5m\n  tfemu logs web-0 --previous -c main");
  verb->callback([=, &session] { session.action = [&session, options] { return Logs(session, *options); }; });
}

}  // namespace tfemu::cli
