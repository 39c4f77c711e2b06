// The verbs, one file each; every Add function declares its flags and says what runs.
#pragma once

#include <CLI/App.hpp>

#include "tools/cli/session.h"

namespace tfemu::cli {

void AddUp(CLI::App& app, Session& session);
void AddDown(CLI::App& app, Session& session);
void AddInfo(CLI::App& app, Session& session);
void AddDoctor(CLI::App& app, Session& session);
void AddApply(CLI::App& app, Session& session);  // and create
void AddGet(CLI::App& app, Session& session);
void AddDescribe(CLI::App& app, Session& session);
void AddLogs(CLI::App& app, Session& session);
void AddExec(CLI::App& app, Session& session);
void AddPortForward(CLI::App& app, Session& session);
void AddScale(CLI::App& app, Session& session);
void AddDelete(CLI::App& app, Session& session);
void AddWait(CLI::App& app, Session& session);
void AddEvents(CLI::App& app, Session& session);
void AddRun(CLI::App& app, Session& session);
void AddSweep(CLI::App& app, Session& session);
void AddTop(CLI::App& app, Session& session);
void AddImage(CLI::App& app, Session& session);
void AddVersion(CLI::App& app, Session& session);
void AddCompletion(CLI::App& app, Session& session);

}  // namespace tfemu::cli
