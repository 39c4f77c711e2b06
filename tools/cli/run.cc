// tfemu run.
#include "tools/cli/run.h"

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "emulator/api/scheme.h"
#include "emulator/api/view.h"
#include "emulator/base/time_format.h"
#include "emulator/rpc/client.h"
#include "tools/cli/await.h"
#include "tools/cli/deletion.h"
#include "tools/cli/image_prepare.h"
#include "tools/cli/junit.h"
#include "tools/cli/objects.h"
#include "tools/cli/run_follow.h"
#include "tools/cli/run_order.h"
#include "tools/cli/targets.h"
#include "tools/cli/up_flags.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

// Pods and jobs end; what else runs only has to come up.
bool IsRun(const std::string& kind) {
  return kind == "TFJob" || kind == "Job" || kind == "Pod" || kind == "Deployment";
}

}  // namespace

// The first Ctrl-C ends the run in good order, the second at once.
struct RunCommand::Signals {
  Signals(Session& owner) : session(owner), set(owner.context(), SIGINT, SIGTERM) { Await(); }

  void Await() {
    set.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      if (interrupted) {
        session.terminal.Warn(
            "aborted; what the run made may still be there: tfemu get all, tfemu down --cluster NAME");
        std::_Exit(kRunInterrupted);
      }
      interrupted = true;
      session.terminal.Note("interrupted; cleaning up (Ctrl-C again aborts)");
      if (on_interrupt) on_interrupt();
      Await();
    });
  }

  Session& session;
  boost::asio::signal_set set;
  bool interrupted = false;
  std::function<void()> on_interrupt;
};

RunCommand::RunCommand(Session& session, const RunOptions& options)
    : session_(session),
      options_(options),
      signals_(std::make_unique<Signals>(session)),
      started_(session.Now()) {}

RunCommand::~RunCommand() = default;

// Signals that came while a call blocked are looked at between the phases.
bool RunCommand::interrupted() const {
  session_.context().poll();
  session_.context().restart();
  return signals_->interrupted;
}

void RunCommand::Note(const std::string& line) {
  if (!options_.brief) session_.terminal.Note(line);
}

std::optional<Duration> RunCommand::wall_time() const {
  std::optional<Instant> last;
  for (const auto& item : items_)
    if (item.ended && (!last || *item.ended > *last)) last = item.ended;
  if (!last || !applied_) return std::nullopt;
  return *last - *applied_;
}

int RunCommand::Execute() {
  manifests_ = options_.manifests;
  if (manifests_.empty()) {
    auto manifests = ReadManifests(options_.files, session_.flags.ns);
    if (!manifests.ok()) return session_.Fail(manifests.error()), kRunWrong;
    manifests_ = std::move(manifests).value();
  }
  if (std::ranges::none_of(manifests_, [](const Manifest& one) { return IsRun(one.key.kind); }))
    return session_.Fail(
               Error{Reason::kInvalid, "nothing in these manifests runs",
                     "run takes a TFJob, a Job, a Pod or a Deployment; tfemu apply takes anything"}),
           kRunWrong;
  if (const auto code = EnsureCluster()) return *code;
  std::optional<int> code;
  for (const auto phase : {&RunCommand::Stage, &RunCommand::Check, &RunCommand::Prepare}) {
    if (!code) code = (this->*phase)();
    if (!code && interrupted()) code = kRunInterrupted;
  }
  if (!code) code = RunStages();
  Report(*code);
  return CleanUp(*code);
}

std::optional<int> RunCommand::EnsureCluster() {
  UpOptions up = options_.up;
  up.ephemeral = !options_.keep;
  const Result<bool> started = UseOrStart(session_, up, "run");
  if (!started.ok()) return session_.Fail(started.error()), kRunImpossible;
  own_cluster_ = started.value();
  return std::nullopt;
}

int RunCommand::Refuse(const std::vector<Error>& errors) {
  int code = kRunWrong;
  for (const auto& error : errors) {
    session_.terminal.ShowError(error);
    // What is not found here is not the manifest's fault alone: an image, a namespace.
    if (error.reason == Reason::kNotFound || error.reason == Reason::kUnavailable) code = kRunImpossible;
  }
  failure_ = errors.front().message;
  return code;
}

std::optional<int> RunCommand::Check() {
  const auto client = session_.Connect();
  if (!client.ok()) return Refuse({client.error()});
  const auto errors =
      CheckManifests(*client.value(), manifests_, {.strict = options_.strict, .new_runs = true});
  if (!errors.empty()) return Refuse(errors);
  const auto namespaces = ListObjects(*client.value(), {"Namespace", "", ""});
  if (!namespaces.ok()) return Refuse({namespaces.error()});
  revision_ = namespaces.value().revision;
  return std::nullopt;
}

std::optional<int> RunCommand::Prepare() {
  std::vector<std::string> images;
  for (const auto& manifest : manifests_)
    for (auto& image : api::ImagesOf(manifest.document.value))
      if (std::ranges::find(images, image) == images.end()) images.push_back(std::move(image));
  const auto prepared = PrepareImages(session_, images);
  if (interrupted()) return kRunInterrupted;
  if (!prepared.ok()) {
    session_.Fail(prepared.error());
    failure_ = prepared.error().message;
    return kRunImpossible;
  }
  return std::nullopt;
}

std::optional<int> RunCommand::Stage() {
  auto stages = InStages(manifests_);
  if (!stages.ok()) return Refuse({stages.error()});
  stages_ = std::move(stages).value();
  return std::nullopt;
}

// What the objects of a stage name must have done its part before the next stage is applied.
int RunCommand::RunStages() {
  for (const auto& stage : stages_) {
    const size_t before = items_.size();
    if (const auto code = Apply(stage)) return *code;
    if (interrupted()) return kRunInterrupted;
    std::vector<RunItem> items(items_.begin() + static_cast<std::ptrdiff_t>(before), items_.end());
    if (items.empty()) continue;
    items_.resize(before);
    if (const int code = Follow(std::move(items)); code != kRunSucceeded) return code;
  }
  return kRunSucceeded;
}

std::optional<int> RunCommand::Apply(const std::vector<Manifest>& stage) {
  const auto client = session_.Connect();
  if (!client.ok()) return Refuse({client.error()});
  if (!applied_) applied_ = session_.Now();
  for (const auto& manifest : stage) {
    const auto applied =
        WriteManifest(*client.value(), manifest, {.strict = options_.strict, .new_runs = true});
    if (!applied.ok()) return Refuse(Locate(manifest, applied.error()));
    for (const auto& warning : applied.value().warnings) session_.terminal.Warn(warning);
    const auto& key = applied.value().object.key();
    if (applied.value().outcome == rpc::v1::WriteReply::CREATED) created_.push_back(key);
    Note(DisplayName(*api::FindKind(key.kind), key.name) + " applied");
    if (IsRun(key.kind)) items_.push_back({key});
  }
  return std::nullopt;
}

int RunCommand::Follow(std::vector<RunItem> items) {
  std::vector<api::ObjectKey> keys;
  for (const auto& item : items) keys.push_back(item.key);
  RunFollower follower(session_, keys,
                       {.revision = revision_,
                        .started = started_,
                        .log_folder = options_.logs,
                        .brief = options_.brief,
                        .label = options_.label});
  signals_->on_interrupt = [&] { follower.Stop(kRunInterrupted); };
  std::optional<Duration> timeout;
  if (!options_.timeout.empty()) timeout = ParseTimeout(options_.timeout).value();
  if (timeout) timeout = std::max(Duration(0), *timeout - (session_.Now() - *applied_));  // of the whole run
  const auto outcome = follower.Run(timeout);
  signals_->on_interrupt = nullptr;
  std::ranges::copy(follower.items(), std::back_inserter(items_));
  std::ranges::copy(follower.bills(), std::back_inserter(bills_));
  bill_ = api::SumOfBills(bills_, session_.Now());
  if (outcome.error) {
    session_.terminal.ShowError(*outcome.error);
    failure_ = outcome.error->message;
  }
  return outcome.code;
}

void RunCommand::Report(int code) {
  for (const auto& item : items_)
    if (item.state == RunItem::State::kDone)
      Note(DisplayName(*api::FindKind(item.key.kind), item.key.name) + " " + item.word + " after " +
           FormatAge(item.ended.value_or(session_.Now()) - started_));
  if (!bill_.empty()) Note(bill_);
  if (options_.junit.empty()) return;
  if (items_.empty())
    for (const auto& manifest : manifests_)
      if (IsRun(manifest.key.kind)) items_.push_back({manifest.key});
  std::ofstream file(options_.junit);
  file << FormatJunit({items_, started_, session_.Now(), code, failure_.empty() ? "did not end" : failure_});
  if (!file.flush()) session_.terminal.Warn("cannot write " + options_.junit);
}

int RunCommand::CleanUp(int code) {
  if (options_.keep) {
    session_.terminal.Note("kept: tfemu --cluster " + session_.flags.cluster + " get all");
    return code;
  }
  if (own_cluster_) {
    session_.terminal.Note("taking the cluster \"" + session_.flags.cluster + "\" down");
    const auto stopped = StopDaemon(session_, /*purge=*/true);
    if (!stopped.ok()) session_.Fail(stopped.error());
    return code;
  }
  if (created_.empty()) return code;
  Note("deleting what the run made");
  std::ranges::reverse(created_);
  DeleteObjects(session_, created_, {.ignore_missing = true, .silent = true});
  return code;
}

void AddRun(CLI::App& app, Session& session) {
  auto options = std::make_shared<RunOptions>();
  auto* verb = app.add_subcommand("run", "Run the jobs of manifests to their end, as one command");
  verb->add_option("files", options->files, "Manifests: files, folders or -")->required();
  verb->add_option("--timeout", options->timeout, "Give up after this: 10m; the exit code is 124 then");
  verb->add_option("--junit", options->junit, "Write a JUnit report here");
  verb->add_option("--logs", options->logs, "Keep every container's output in this folder");
  verb->add_flag("--keep", options->keep, "Leave everything running afterwards");
  verb->add_flag("--strict", options->strict, "A field that is not honoured is an error, not a warning");
  AddUpFlags(*verb, options->up);
  verb->footer(
      "An object with the annotation tfemu.dev/run-after: KIND/NAME starts when that one has done its "
      "part.\n\n"
      "Exit codes: 0 all succeeded, 1 one failed, 2 wrong manifest or flags, 3 impossible in this cluster,\n"
      "124 time-out, 130 interrupted.\n\nExamples:\n  tfemu run --gpus 2 examples/tutorial\n"
      "  tfemu run job.yaml --timeout 10m --junit out.xml --logs out/");
  verb->callback([=, &session] {
    session.action = [&session, options] {
      if (!options->timeout.empty())
        if (const auto timeout = ParseTimeout(options->timeout); !timeout.ok())
          return session.Usage(timeout.error().message, timeout.error().hint);
      return RunCommand(session, *options).Execute();
    };
  });
}

}  // namespace tfemu::cli
