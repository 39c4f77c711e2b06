// What the user sees: plain text to pipes, colour and a status line to terminals.
#pragma once

#include <string>
#include <string_view>

#include "emulator/base/error.h"

namespace tfemu::cli {

enum class Color { kNone, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan, kDim };

struct TerminalOptions {
  bool stdout_is_terminal = false, stderr_is_terminal = false;
  bool no_color = false;  // NO_COLOR is set, or TERM=dumb
  bool quiet = false;
};

class Terminal {
 public:
  explicit Terminal(const TerminalOptions& options) : options_(options) {}

  void SetQuiet(bool quiet) { options_.quiet = quiet; }
  bool quiet() const { return options_.quiet; }
  bool interactive() const { return options_.stderr_is_terminal; }
  bool colors_out() const { return options_.stdout_is_terminal && !options_.no_color; }

  // To stdout, at once. False when nobody reads it any more.
  bool Print(std::string_view text);
  // To stderr: messages that scripts may want to silence, not shown with -q.
  void Note(std::string_view line);
  void Warn(std::string_view line);
  void ShowError(const Error& error);  // "error: ..." and "hint: ..."

  // One line that is replaced by the next and vanishes before other output; nothing on a pipe or with -q.
  void Status(const std::string& line);
  void ClearStatus();

  std::string Paint(Color color, std::string_view text, bool to_stderr = false) const;

 private:
  void Complain(Color color, std::string_view label, std::string_view text);

  TerminalOptions options_;
  bool status_shown_ = false;
};

size_t TerminalWidth();  // of stderr, 80 when unknown
// Writes everything; false on an error such as a closed pipe.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace tfemu::cli
