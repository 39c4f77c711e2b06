#include "tools/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "emulator/base/strings.h"

namespace tfemu::cli {
namespace {

std::string_view Code(Color color) {
  switch (color) {
    case Color::kNone: return "";
    case Color::kRed: return "\033[31m";
    case Color::kGreen: return "\033[32m";
    case Color::kYellow: return "\033[33m";
    case Color::kBlue: return "\033[34m";
    case Color::kMagenta: return "\033[35m";
    case Color::kCyan: return "\033[36m";
    case Color::kDim: return "\033[2m";
  }
  return "";
}

// At most `width` bytes, never ending inside a UTF-8 sequence.
std::string_view Fit(std::string_view line, size_t width) {
  if (line.size() <= width) return line;
  while (width > 0 && (static_cast<unsigned char>(line[width]) & 0xC0) == 0x80) --width;
  return line.substr(0, width);
}

}  // namespace

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

size_t TerminalWidth() {
  winsize window{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
}

std::string Terminal::Paint(Color color, std::string_view text, bool to_stderr) const {
  const bool terminal = to_stderr ? options_.stderr_is_terminal : options_.stdout_is_terminal;
  if (!terminal || options_.no_color || color == Color::kNone) return std::string(text);
  return std::string(Code(color)) + std::string(text) + "\033[0m";
}

bool Terminal::Print(std::string_view text) {
  ClearStatus();
  return WriteAll(STDOUT_FILENO, text);
}

void Terminal::Note(std::string_view line) {
  if (options_.quiet) return;
  ClearStatus();
  WriteAll(STDERR_FILENO, std::string(line) + "\n");
}

void Terminal::Complain(Color color, std::string_view label, std::string_view text) {
  ClearStatus();
  WriteAll(STDERR_FILENO, Paint(color, label, true) + " " + std::string(text) + "\n");
}

void Terminal::Warn(std::string_view line) { Complain(Color::kYellow, "warning:", line); }

void Terminal::ShowError(const Error& error) {
  Complain(Color::kRed, "error:", error.message);
  if (!error.hint.empty()) Complain(Color::kCyan, "hint:", error.hint);
}

void Terminal::Status(const std::string& line) {
  if (!options_.stderr_is_terminal || options_.quiet) return;
  const size_t width = TerminalWidth();
  WriteAll(STDERR_FILENO, "\r\033[K" + std::string(Fit(line, width > 1 ? width - 1 : 1)));
  status_shown_ = true;
}

void Terminal::ClearStatus() {
  if (!status_shown_) return;
  WriteAll(STDERR_FILENO, "\r\033[K");
  status_shown_ = false;
}

}  // namespace tfemu::cli
