// tfemu, the command line.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "tools/cli/parse.h"

namespace {

std::string ReadEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int argc, char** argv) {
  using tfemu::cli::Session;
  // A closed pipe shows as a failed write, which ends the verb in good order.
  std::signal(SIGPIPE, SIG_IGN);
  tfemu::cli::TerminalOptions options;
  options.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  options.stderr_is_terminal = ::isatty(STDERR_FILENO) == 1;
  options.no_color = !ReadEnvironment("NO_COLOR").empty() || ReadEnvironment("TERM") == "dumb";
  Session session(ReadEnvironment, options);
  const int code = tfemu::cli::RunCommandLine({argv + 1, argv + argc}, session);
  session.terminal.ClearStatus();
  // gRPC's own tear-down would cost milliseconds and has nothing to save.
  std::_Exit(code);
}
