// tfemu sweep.
#include "tools/cli/sweep.h"

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "emulator/api/view.h"
#include "emulator/base/check.h"
#include "emulator/base/rng.h"
#include "emulator/base/strings.h"
#include "emulator/rpc/client.h"
#include "tools/cli/await.h"
#include "tools/cli/progress.h"
#include "tools/cli/up_flags.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {

// Held for the whole sweep: a run handles Ctrl-C itself, and between two runs nothing else would.
struct SweepCommand::Signals {
  explicit Signals(Session& owner) : session(owner), set(owner.context(), SIGINT, SIGTERM) {
    set.async_wait([this](const boost::system::error_code& error, int) { received = received || !error; });
  }
  bool Received() {
    session.context().poll();
    session.context().restart();
    return received;
  }

  Session& session;
  boost::asio::signal_set set;
  bool received = false;
};

SweepCommand::SweepCommand(Session& session, const SweepOptions& options)
    : session_(session), options_(options) {}
SweepCommand::~SweepCommand() = default;

int SweepCommand::Execute() {
  for (const auto phase : {&SweepCommand::ReadArguments, &SweepCommand::ReadJob, &SweepCommand::ReadEarlier})
    if (const auto code = (this->*phase)()) return *code;
  int code = kRunSucceeded;
  if (done_ < total_) {
    signals_ = std::make_unique<Signals>(session_);
    if (const auto failed = EnsureCluster()) return *failed;
    code = RunPoints();
    TakeDown();
  }
  Show(code);
  return code;
}

std::optional<int> SweepCommand::ReadArguments() {
  const auto wrong = [this](const Error& error) { return session_.Usage(error.message, error.hint); };
  auto settings = ParseSettings(options_.settings);
  if (!settings.ok()) return wrong(settings.error());
  std::optional<Total> total;
  if (!options_.total.empty()) {
    const auto parsed = ParseTotal(options_.total);
    if (!parsed.ok()) return wrong(parsed.error());
    total = parsed.value();
  }
  auto metric = Metric::Make(options_.metric, total);
  if (!metric.ok()) return wrong(metric.error());
  metric_.emplace(std::move(metric).value());
  for (const auto& text : options_.references) {
    const auto reference = ParseReference(text);
    if (!reference.ok()) return wrong(reference.error());
    references_.push_back(reference.value());
  }
  results_.settings = std::move(settings).value();
  results_.unit = metric_->unit();
  results_.by_wall = options_.by_wall;
  assignments_ = Combine(results_.settings);
  return std::nullopt;
}

std::optional<int> SweepCommand::ReadJob() {
  auto manifests = ReadManifests(options_.files, session_.flags.ns);
  if (!manifests.ok()) return session_.Fail(manifests.error()), kRunWrong;
  for (auto& manifest : manifests.value()) {
    if (manifest.key.kind != "TFJob") {
      others_.push_back(std::move(manifest));
      continue;
    }
    if (job_)
      return session_.Fail(Error{Reason::kInvalid,
                                 "two TFJobs: " + job_->key.name + " and " + manifest.key.name,
                                 "a sweep varies one job; give it the file that has it"}),
             kRunWrong;
    job_ = std::move(manifest);
  }
  if (!job_) return session_.Fail(Error{Reason::kInvalid, "no TFJob in these manifests"}), kRunWrong;
  results_.job = job_->key.name;
  // All of them are tried before the first runs.
  for (const auto& assignment : assignments_) {
    auto document = job_->document.value;
    if (const auto applied = ApplyAssignment(document, assignment); !applied.ok())
      return session_.Usage(applied.error().message, applied.error().hint);
  }
  return std::nullopt;
}

// Settings and everything a result depends on; a changed manifest or metric makes earlier results worthless.
std::string SweepCommand::PointKey(const Assignment& assignment) const {
  std::string text = metric_->Identity() + job_->document.value.dump();
  for (const auto& other : others_) text += other.document.value.dump();
  for (const auto& [name, value] : options_.up.Flags()) text += name + "=" + value + "\n";
  return fmt::format("{:016x} {}", Fnv1a(text), Describe(assignment));
}

std::optional<int> SweepCommand::ReadEarlier() {
  auto store = SweepStore::Open(options_.output);
  if (!store.ok()) return session_.Fail(store.error()), kRunImpossible;
  store_.emplace(std::move(store).value());
  if (!options_.fresh) {
    auto earlier = store_->Earlier();
    if (!earlier.ok()) return session_.Fail(earlier.error()), kRunImpossible;
    earlier_ = std::move(earlier).value();
  }
  total_ = static_cast<int>(assignments_.size()) * options_.repeat;
  results_.others = earlier_;
  for (const auto& assignment : assignments_) {
    const auto found = std::ranges::find(earlier_, PointKey(assignment), &SweepPoint::key);
    if (found == earlier_.end()) continue;
    SweepPoint point = *found;
    if (point.runs.size() > static_cast<size_t>(options_.repeat))
      point.runs.resize(static_cast<size_t>(options_.repeat));
    done_ += static_cast<int>(point.runs.size());
    session_.terminal.Note(TitleOf(assignment) + ": " + std::to_string(point.runs.size()) +
                           (point.runs.size() == 1 ? " run is" : " runs are") +
                           " there already, skipped (--fresh runs all anew)");
    Keep(point);
  }
  return std::nullopt;
}

std::optional<int> SweepCommand::EnsureCluster() {
  UpOptions up = options_.up;
  up.ephemeral = true;
  const Result<bool> started = UseOrStart(session_, up, "sweep");
  if (!started.ok()) return session_.Fail(started.error()), kRunImpossible;
  own_cluster_ = started.value();
  return std::nullopt;
}

int SweepCommand::RunPoints() {
  int worst = kRunSucceeded;
  for (const auto& assignment : assignments_) {
    const std::string key = PointKey(assignment);
    const auto kept = std::ranges::find(results_.points, key, &SweepPoint::key);
    SweepPoint point = kept == results_.points.end() ? SweepPoint{assignment, key, {}} : *kept;
    for (int repeat = static_cast<int>(point.runs.size()) + 1; repeat <= options_.repeat; ++repeat) {
      const auto code = RunOne(point, repeat);
      if (signals_->Received() || code == kRunInterrupted) return kRunInterrupted;
      if (!code) continue;
      worst = std::max(worst, *code);
      session_.terminal.Warn(TitleOf(assignment) + ": no result (exit code " + std::to_string(*code) +
                             " of run)");
      if (*code == kRunWrong) return *code;  // the others would fail the same way
      break;
    }
  }
  return worst;
}

// What is the same in all points need not be said with each.
std::string SweepCommand::TitleOf(Assignment assignment) const {
  std::erase_if(assignment, [this](const auto& entry) {
    const auto setting = std::ranges::find(results_.settings, entry.first, &Setting::key);
    return setting != results_.settings.end() && setting->values.size() == 1;
  });
  return assignment.empty() ? results_.job : Describe(assignment);
}

Manifest SweepCommand::JobOf(const Assignment& assignment, int repeat) const {
  Manifest job = *job_;
  CHECK_THAT(ApplyAssignment(job.document.value, assignment).ok());  // ReadJob has tried it
  job.key.name = NameOfRun(job_->key.name, assignment, repeat);
  job.document.value["metadata"]["name"] = job.key.name;
  return job;
}

std::optional<int> SweepCommand::RunOne(SweepPoint& point, int repeat) {
  RunOptions run;
  run.manifests = others_;
  run.manifests.push_back(JobOf(point.assignment, repeat));
  const std::string name = run.manifests.back().key.name;
  const std::string title =
      TitleOf(point.assignment) + (options_.repeat > 1 ? " run " + std::to_string(repeat) : "");
  run.timeout = options_.timeout;
  run.strict = options_.strict;
  run.brief = true;
  run.label = FormatProgress(done_, total_, title) + " | ";
  run.logs = store_->LogFolder(name);
  if (!session_.terminal.interactive()) session_.terminal.Note(FormatProgress(done_, total_, title));
  std::error_code error;
  std::filesystem::remove_all(run.logs, error);  // of an earlier attempt
  RunCommand command(session_, run);
  const int code = command.Execute();
  if (code != kRunSucceeded) return code;
  RunResult result;
  result.wall_seconds = std::chrono::duration<double>(command.wall_time().value_or(Duration(0))).count();
  result.figures = metric_->Gather(SweepStore::ReadLogs(run.logs));
  if (!result.figures && !options_.by_wall)
    session_.terminal.Warn(title + ": no figure in the logs; --metric REGEX says what to look for");
  point.runs.push_back(result);
  ++done_;
  Keep(point);
  session_.terminal.Note(
      title + ": " +
      (result.figures ? fmt::format("{:.2f} {}, ", result.figures->total, results_.unit) : "") +
      fmt::format("{:.1f} s", result.wall_seconds));
  if (const auto saved = store_->Save(results_); !saved.ok()) session_.terminal.Warn(saved.error().message);
  return std::nullopt;
}

void SweepCommand::Keep(const SweepPoint& point) {
  std::erase_if(results_.others, [&](const SweepPoint& other) { return other.key == point.key; });
  const auto found = std::ranges::find(results_.points, point.key, &SweepPoint::key);
  if (found == results_.points.end()) results_.points.push_back(point);
  else *found = point;
  const auto place = [this](const SweepPoint& one) {
    return std::ranges::find(assignments_, one.assignment);
  };
  std::ranges::stable_sort(results_.points, {}, place);
}

void SweepCommand::Show(int code) {
  if (results_.points.empty()) return;
  session_.terminal.ClearStatus();
  session_.terminal.Print(FormatSweepTable(results_));
  if (const auto saved = store_->SaveReport(results_, references_, options_.command); !saved.ok())
    session_.terminal.ShowError(saved.error());
  else if (store_->keeps())
    session_.terminal.Note("plot: " + store_->PathOf("plot.svg") + ", page: " + store_->PathOf("index.html") +
                           ", figures: " + store_->PathOf("results.csv") + " and results.json");
  if (code == kRunInterrupted && store_->keeps())
    session_.terminal.Note("finished points are kept; the same command goes on from here");
}

void SweepCommand::TakeDown() {
  if (!own_cluster_ || options_.keep) return;
  session_.terminal.Note("taking the cluster \"" + session_.flags.cluster + "\" down");
  if (const auto stopped = StopDaemon(session_, /*purge=*/true); !stopped.ok())
    session_.Fail(stopped.error());
}

void AddSweep(CLI::App& app, Session& session) {
  auto options = std::make_shared<SweepOptions>();
  auto resume = std::make_shared<bool>(true);
  auto* verb = app.add_subcommand("sweep", "Run a job under several settings and compare what comes out");
  verb->add_option("files", options->files,
                   "Manifests with one TFJob, and what it needs: files, folders or -")
      ->required();
  verb->add_option(
          "--set", options->settings,
          "What varies: Worker.replicas=1,2,4, arg:--batch_size=32,64, env:NAME=a,b or a path of the job; "
          "several make every combination")
      ->allow_extra_args(false);
  verb->add_option("--metric", options->metric,
                   "The figure in the logs: an expression with one group (default: images/sec)");
  verb->add_option("--total", options->total, "The job's figure of its pods': mean, sum, max or min");
  verb->add_flag("--wall-time", options->by_wall,
                 "Compare the time from apply to success instead of a figure");
  verb->add_option("--repeat", options->repeat, "Run each point so often; medians are compared")
      ->check(CLI::Range(1, 1000));
  verb->add_option("--output", options->output,
                   "Keep results.json, results.csv, plot.svg, index.html and logs here");
  auto* fresh =
      verb->add_flag("--fresh", options->fresh, "Run points anew that the output folder has already");
  verb->add_flag("--resume", *resume, "Go on with what the output folder has: the default")->excludes(fresh);
  verb->add_option("--reference", options->references, "A line in the plot to compare with: LABEL=NUMBER")
      ->allow_extra_args(false);
  verb->add_option("--timeout", options->timeout, "Give up a run after this: 10m");
  verb->add_flag("--strict", options->strict, "A field that is not honoured is an error, not a warning");
  AddUpFlags(*verb, options->up);
  verb->footer(
      "Exit codes as of run: 0 all succeeded, 1 one failed, 2 wrong manifest or flags, 3 impossible in this\n"
      "cluster, 124 time-out, 130 interrupted. Finished points are kept in any case.\n\nExamples:\n"
      "  tfemu sweep job.yaml --set Worker.replicas=1,2,4 --gpus 4 --gpu-model A10 --output sweep\n"
      "  tfemu sweep job.yaml --set arg:--batch_size=32,64 --set Worker.replicas=1,2 --repeat 3\n"
      "  tfemu sweep job.yaml --set 'Worker.env:OMP_NUM_THREADS=1,2' --wall-time\n"
      "  tfemu sweep job.yaml --set arg:--learning-rate=0.1,0.01 --metric 'test accuracy ([0-9.]+)' --total "
      "max");
  verb->callback([=, &session] {
    session.action = [&session, options, resume] {
      if (!options->timeout.empty())
        if (const auto timeout = ParseTimeout(options->timeout); !timeout.ok())
          return session.Usage(timeout.error().message, timeout.error().hint);
      options->command = "tfemu sweep " + Join(options->files, " ");
      for (const auto& setting : options->settings) options->command += " --set '" + setting + "'";
      for (const auto& [name, value] : options->up.Flags()) options->command += " --" + name + " " + value;
      return SweepCommand(session, *options).Execute();
    };
  });
}

}  // namespace tfemu::cli
