#include "tools/cli/run_follow.h"

#include <boost/asio/executor_work_guard.hpp>
#include <map>

#include "tools/cli/objects.h"

namespace tfemu::cli {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(200);
// Logs of pods that are over are read to their end; a stream that does not end holds nobody up longer than
// this.
constexpr Duration kLogPatience = std::chrono::seconds(3);

}  // namespace

RunFollower::RunFollower(Session& session, const std::vector<api::ObjectKey>& items, Options options)
    : session_(session),
      keys_(items),
      options_(std::move(options)),
      printer_(session.terminal, {.prefix = true, .folder = options_.log_folder, .shown = !options_.brief}),
      monitor_(items, [this](RunMonitor::Importance importance, const std::string& line) {
        Say(importance, line);
      }) {}

RunMonitor::Outcome RunFollower::Run(std::optional<Duration> timeout) {
  if (const auto begun = Begin(); !begun.ok()) return {kRunImpossible, begun.error()};
  if (timeout)
    After(*timeout, [this] {
      const std::string state = monitor_.StatusLine(session_.Now() - options_.started);
      End({kRunTimeout, Error{Reason::kTimeout, "not done when the time was up: " + state}});
    });
  Tick();
  const auto keep_running = boost::asio::make_work_guard(session_.context());
  session_.context().run();
  closing_ = true;
  for (const TimerId timer : timers_) session_.executor().Cancel(timer);
  watch_->Cancel();
  for (const auto& call : logs_) call->Cancel();
  // Calls report to us until they are closed.
  session_.context().restart();
  while (open_ > 0) session_.context().run_one();
  session_.context().restart();
  printer_.Finish();
  session_.terminal.ClearStatus();
  return *outcome_;
}

Result<void> RunFollower::Begin() {
  ASSIGN_OR_RETURN(auto* client, session_.Connect());
  // Pods of others matter too: they may hold what ours wait for.
  ASSIGN_OR_RETURN(const auto pods, ListObjects(*client, {"Pod", "", ""}));
  for (const auto& pod : pods.objects) monitor_.Observe(pod, session_.Now());
  rpc::v1::WatchRequest request;
  request.set_revision(options_.revision);
  ++open_;
  watch_ = client->Watch(session_.executor(), request,
                         {.message = [this](rpc::v1::WatchReply& reply) { OnChange(reply); },
                          .done =
                              [this](const Result<void>& result) {
                                --open_;
                                if (!closing_ && !result.ok()) End({kRunImpossible, result.error()});
                              }});
  std::map<std::string, std::vector<api::ObjectKey>> finite, serving;
  for (const auto& key : keys_) (key.kind == "Deployment" ? serving : finite)[key.ns].push_back(key);
  for (const auto& [ns, targets] : finite) StreamLogs(ns, targets, /*finite=*/true);
  for (const auto& [ns, targets] : serving) StreamLogs(ns, targets, /*finite=*/false);
  return {};
}

void RunFollower::StreamLogs(const std::string& ns, const std::vector<api::ObjectKey>& targets, bool finite) {
  rpc::v1::LogsRequest request;
  request.set_ns(ns);
  for (const auto& target : targets) *request.add_targets() = ToMessage(target);
  request.set_follow(true);
  request.set_all_containers(true);
  ++open_;
  open_finite_logs_ += finite;
  const int stream = static_cast<int>(logs_.size());
  const auto client = session_.Connect();
  logs_.push_back(client.value()->Logs(session_.executor(), request,
                                       {.message =
                                            [this, stream](rpc::v1::LogsReply& reply) {
                                              // Each stream counts its sources for itself.
                                              reply.set_id(reply.id() * 64 + stream);
                                              if (reply.has_source())
                                                reply.mutable_source()->set_id(reply.id());
                                              printer_.Print(reply);
                                            },
                                        .done =
                                            [this, finite](const Result<void>& result) {
                                              --open_;
                                              open_finite_logs_ -= finite;
                                              if (!closing_ && !result.ok())
                                                session_.terminal.ShowError(result.error());
                                              FinishWhenQuiet();
                                            }}));
}

void RunFollower::OnChange(const rpc::v1::WatchReply& reply) {
  const auto object = Decode(reply.json());
  if (!object.ok() || closing_) return;
  if (reply.type() == rpc::v1::WatchReply::DELETED) monitor_.Forget(object.value(), session_.Now());
  else monitor_.Observe(object.value(), session_.Now());
  Judge();
}

void RunFollower::After(Duration delay, Task task) {
  timers_.push_back(session_.executor().PostAt(session_.Now() + delay, std::move(task)));
}

void RunFollower::Judge() {
  if (outcome_) return;
  if (auto outcome = monitor_.Judge(session_.Now())) End(std::move(*outcome));
}

void RunFollower::Tick() {
  if (closing_) return;
  Judge();
  if (!outcome_)
    session_.terminal.Status(options_.label + monitor_.StatusLine(session_.Now() - options_.started));
  After(kTick, [this] { Tick(); });
}

void RunFollower::Stop(int code) {
  outcome_ = RunMonitor::Outcome{code, std::nullopt};
  if (!closing_) session_.context().stop();
}

// Jobs that came to their end have logs to be read to theirs; for the rest nobody waits.
void RunFollower::End(RunMonitor::Outcome outcome) {
  if (outcome_) return;
  outcome_ = std::move(outcome);
  if (outcome_->code != kRunSucceeded && outcome_->code != kRunFailed) {
    session_.context().stop();
    return;
  }
  After(kLogPatience, [this] { session_.context().stop(); });
  FinishWhenQuiet();
}

void RunFollower::FinishWhenQuiet() {
  // While closing, Run waits for the calls: a stopped context would run none of them.
  if (outcome_ && open_finite_logs_ == 0 && !closing_) session_.context().stop();
}

void RunFollower::Say(RunMonitor::Importance importance, const std::string& line) {
  if (importance == RunMonitor::Importance::kWarning) session_.terminal.Warn(line);
  else if (!options_.brief) session_.terminal.Note(line);
}

}  // namespace tfemu::cli
