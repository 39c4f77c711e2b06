#include "tools/cli/junit.h"

#include <cstdio>

#include "emulator/base/time_format.h"

namespace tfemu::cli {
namespace {

// Control characters have no place in XML 1.0, not even escaped.
std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
  }
  return out;
}

std::string Seconds(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(duration.count()) / 1e9);
  return text;
}

}  // namespace

std::string FormatJunit(const JunitReport& report) {
  int failures = 0, errors = 0;
  std::string cases;
  for (const auto& item : report.items) {
    const Duration time = item.ended.value_or(report.ended) - report.started;
    cases += "  <testcase classname=\"" + Escape(item.key.kind) + "\" name=\"" +
             Escape(item.key.ns + "/" + item.key.name) + "\" time=\"" + Seconds(time) + "\"";
    if (item.state == RunItem::State::kDone) {
      cases += "/>\n";
      continue;
    }
    const bool failed = item.state == RunItem::State::kFailed;
    ++(failed ? failures : errors);
    const char* element = failed ? "failure" : "error";
    cases += ">\n    <" + std::string(element) + " message=\"" +
             Escape(failed ? item.message : report.message) + "\"/>\n" + "  </testcase>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tfemu run\" tests=\"" +
         std::to_string(report.items.size()) + "\" failures=\"" + std::to_string(failures) + "\" errors=\"" +
         std::to_string(errors) + "\" time=\"" + Seconds(report.ended - report.started) + "\" timestamp=\"" +
         FormatTime(report.started) + "\">\n" + cases + "</testsuite>\n";
}

}  // namespace tfemu::cli
