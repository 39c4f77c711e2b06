// tfemu doctor.
#include <CLI/CLI.hpp>

#include "tools/cli/daemon.h"
#include "tools/cli/host_checks.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

std::string Mark(const Terminal& terminal, HostCheck::Grade grade) {
  switch (grade) {
    case HostCheck::Grade::kGood: return terminal.Paint(Color::kGreen, "ok     ");
    case HostCheck::Grade::kNotice: return terminal.Paint(Color::kYellow, "notice ");
    case HostCheck::Grade::kMissing: return terminal.Paint(Color::kRed, "missing");
  }
  return {};
}

// 1 when the host can't run a cluster at all; notices are no failure.
int Doctor(Session& session) {
  const auto home = session.Home();
  if (!home.ok()) return session.Fail(home.error());
  auto checks = CheckHost(home.value());
  const auto daemon = FindDaemon(session.environment());
  if (daemon.ok()) checks.push_back({"tfemud", HostCheck::Grade::kGood, daemon.value(), ""});
  else checks.push_back({"tfemud", HostCheck::Grade::kMissing, daemon.error().message, daemon.error().hint});
  if (!session.Connect().ok() && session.PodsGoOn())
    checks.push_back({"cluster", HostCheck::Grade::kNotice,
                      "the daemon of \"" + session.flags.cluster + "\" is gone, but its pods go on",
                      "tfemu up to take them up again, tfemu down to end them"});
  size_t width = 0;
  for (const auto& check : checks) width = std::max(width, check.name.size());
  bool missing = false;
  for (const auto& check : checks) {
    missing = missing || check.grade == HostCheck::Grade::kMissing;
    session.terminal.Print(Mark(session.terminal, check.grade) + " " + check.name +
                           std::string(width - check.name.size() + 2, ' ') + check.finding + "\n");
    if (!check.remedy.empty())
      session.terminal.Print(std::string(8 + width + 2, ' ') + "helps: " + check.remedy + "\n");
  }
  return missing ? kRefused : kOk;
}

}  // namespace

void AddDoctor(CLI::App& app, Session& session) {
  auto* verb = app.add_subcommand("doctor", "What this host cannot do, why, and what would help");
  verb->footer("Example:\n  tfemu doctor");
  verb->callback([&session] { session.action = [&session] { return Doctor(session); }; });
}

}  // namespace tfemu::cli
