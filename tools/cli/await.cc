#include "tools/cli/await.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <memory>

#include "emulator/base/time_format.h"
#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"

namespace tfemu::cli {
namespace {

// One watch and what it has shown so far.
struct Watched {
  const Awaited* awaited;
  std::shared_ptr<rpc::WatchCall> call = nullptr;
  Verdict verdict = Verdict::kPending;
  bool seen = false;
};

class Waiter {
 public:
  Waiter(Session& session, rpc::Client& client, const std::vector<Awaited>& awaited)
      : session_(session), client_(client) {
    for (const auto& one : awaited) watched_.push_back({&one});
  }

  Result<std::vector<Verdict>> Run(std::optional<Duration> timeout) {
    for (auto& watched : watched_) Begin(watched);
    std::optional<TimerId> timer;
    if (timeout)
      timer = session_.executor().PostAt(session_.Now() + *timeout, [this] { session_.context().stop(); });
    StopWhenSettled();
    const auto keep_running = boost::asio::make_work_guard(session_.context());
    session_.context().run();
    if (timer) session_.executor().Cancel(*timer);
    over_ = true;
    for (auto& watched : watched_) watched.call->Cancel();
    // The cancelled calls still report to us: their last words are heard before we go.
    while (open_ > 0) {
      session_.context().restart();
      session_.context().run_one();
    }
    session_.context().restart();
    if (error_) return *error_;
    std::vector<Verdict> verdicts;
    for (const auto& watched : watched_) verdicts.push_back(watched.verdict);
    return verdicts;
  }

 private:
  void Begin(Watched& watched) {
    rpc::v1::WatchRequest request;
    request.set_kind(watched.awaited->key.kind);
    request.set_ns(watched.awaited->key.ns);
    request.set_name(watched.awaited->key.name);
    request.set_list_first(true);
    ++open_;
    watched.call =
        client_.Watch(session_.executor(), request,
                      {.message = [this, &watched](rpc::v1::WatchReply& reply) { OnMessage(watched, reply); },
                       .done =
                           [this](const Result<void>& result) {
                             --open_;
                             if (over_ || result.ok()) return;
                             if (!error_) error_ = result.error();
                             session_.context().stop();
                           }});
  }

  void OnMessage(Watched& watched, const rpc::v1::WatchReply& reply) {
    if (watched.verdict != Verdict::kPending || over_) return;
    if (reply.type() == rpc::v1::WatchReply::SYNCED) {
      if (!watched.seen) Judge(watched, nullptr);
      return;
    }
    watched.seen = true;
    const auto object = Decode(reply.json());
    if (!object.ok()) return;
    Judge(watched, reply.type() == rpc::v1::WatchReply::DELETED ? nullptr : &object.value());
  }

  void Judge(Watched& watched, const api::Object* object) {
    watched.verdict = watched.awaited->judge(object);
    if (watched.verdict == Verdict::kPending) return;
    if (watched.verdict == Verdict::kMet) watched.awaited->met();
    StopWhenSettled();
  }

  void StopWhenSettled() {
    if (std::ranges::none_of(watched_, [](const Watched& one) { return one.verdict == Verdict::kPending; }))
      session_.context().stop();
  }

  Session& session_;
  rpc::Client& client_;
  std::vector<Watched> watched_;
  std::optional<Error> error_;
  int open_ = 0;
  bool over_ = false;
};

}  // namespace

Result<std::vector<Verdict>> Await(Session& session, const std::vector<Awaited>& awaited,
                                   std::optional<Duration> timeout) {
  if (awaited.empty()) return std::vector<Verdict>{};
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  return Waiter(session, *client, awaited).Run(timeout);
}

Result<std::optional<Duration>> ParseTimeout(const std::string& text) {
  if (text.starts_with('-')) return std::optional<Duration>();
  const auto duration = ParseDuration(text);
  if (!duration)
    return Error{Reason::kBadRequest, "not a duration: \"" + text + "\"", "write it like 90s, 10m, 1h30m"};
  return std::optional<Duration>(*duration);
}

}  // namespace tfemu::cli
