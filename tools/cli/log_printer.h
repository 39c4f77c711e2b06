// Several containers' output in one stream: each whole line with its container's name in front, in its
// colour.
#pragma once

#include <map>
#include <string>

#include "tfemu.pb.h"
#include "tools/cli/terminal.h"

namespace tfemu::cli {

class LogPrinter {
 public:
  struct Options {
    bool prefix = false;      // names in front of lines
    bool containers = false;  // "pod container" instead of "pod"
    std::string folder = {};  // also written there, POD/CONTAINER.ATTEMPT.log
    bool shown = true;
  };
  LogPrinter(Terminal& terminal, Options options) : terminal_(terminal), options_(std::move(options)) {}

  // False when nobody reads the output any more.
  bool Print(const rpc::v1::LogsReply& reply);
  // The last lines of pods that ended without a '\n' end here.
  void Finish();

 private:
  struct Source {
    std::string label;
    Color color = Color::kNone;
    std::string rest;  // the beginning of a line
    int file = -1;
  };
  std::string Prefixed(Source& source, std::string_view data) const;
  void Announce(const rpc::v1::LogsReply::Source& message);
  void Save(const Source& source, std::string_view data) const;

  Terminal& terminal_;
  Options options_;
  std::map<int, Source> sources_;
  size_t width_ = 0;
};

}  // namespace tfemu::cli
