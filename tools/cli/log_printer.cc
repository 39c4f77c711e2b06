#include "tools/cli/log_printer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tfemu::cli {
namespace {

constexpr Color kColors[] = {Color::kCyan, Color::kGreen, Color::kMagenta, Color::kYellow, Color::kBlue};

}  // namespace

void LogPrinter::Announce(const rpc::v1::LogsReply::Source& message) {
  Source& source = sources_[message.id()];
  source.color = kColors[static_cast<size_t>(message.id() - 1) % std::size(kColors)];
  source.label = message.pod() + (options_.containers ? " " + message.container() : "");
  width_ = std::max(width_, source.label.size());
  if (options_.folder.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(options_.folder) / message.pod();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto path = folder / (message.container() + "." + std::to_string(message.attempt()) + ".log");
  if (source.file >= 0) ::close(source.file);
  source.file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (source.file < 0) terminal_.Warn("cannot write " + path.string());
}

bool LogPrinter::Print(const rpc::v1::LogsReply& reply) {
  if (reply.has_source()) Announce(reply.source());
  Source& source = sources_[reply.id()];
  Save(source, reply.data());
  if (!options_.shown) return true;
  return options_.prefix ? terminal_.Print(Prefixed(source, reply.data())) : terminal_.Print(reply.data());
}

std::string LogPrinter::Prefixed(Source& source, std::string_view data) const {
  const std::string prefix =
      terminal_.Paint(source.color, source.label + std::string(width_ - source.label.size(), ' ') + " | ");
  std::string out;
  while (!data.empty()) {
    const size_t end = data.find('\n');
    if (end == std::string_view::npos) {
      source.rest += data;
      break;
    }
    out += prefix;
    out += source.rest;
    out += data.substr(0, end + 1);
    source.rest.clear();
    data.remove_prefix(end + 1);
  }
  return out;
}

void LogPrinter::Finish() {
  for (auto& [id, source] : sources_) {
    if (options_.shown && !source.rest.empty()) terminal_.Print(Prefixed(source, "\n"));
    if (source.file >= 0) ::close(source.file);
    source.file = -1;
  }
}

void LogPrinter::Save(const Source& source, std::string_view data) const {
  if (source.file >= 0 && !WriteAll(source.file, data))
    terminal_.Warn("cannot write the log of " + source.label);
}

}  // namespace tfemu::cli
