// tfemu-unpack: unpacks one image archive and ends; a process of its own, so that a hostile archive meets
// little. Its argument is a JSON object; what it prints is one JSON object a line: progress, then a record or
// an error.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/unpack/unpack.h"

namespace tfemu::unpack {
namespace {

using Json = nlohmann::json;

void Print(const Json& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

// Twenty lines are enough for any bar.
class ProgressPrinter {
 public:
  void operator()(const UnpackProgress& progress) {
    const uint64_t step = std::max(progress.total / 20 + 1, uint64_t{4} << 20);
    if (progress.done / step == last_) return;
    last_ = progress.done / step;
    Print({{"progress",
            {{"done", progress.done},
             {"total", progress.total},
             {"layer", progress.layer},
             {"layers", progress.layers}}}});
  }

 private:
  uint64_t last_ = ~0ull;
};

Result<image::ArchiveRecord> Run(const std::string& argument) {
  const Json json = Json::parse(argument, nullptr, false);
  if (!json.is_object()) return Error{Reason::kBadRequest, "its argument is a JSON object"};
  UnpackOptions options{.source = json.value("source", ""),
                        .layers_folder = json.value("layers", ""),
                        .select = json.value("select", ""),
                        .confine = ::geteuid() == 0,
                        .merge = json.value("merge", false),
                        .progress = ProgressPrinter()};
  if (const auto bytes = json.value("bytes", uint64_t{0})) options.limits.bytes = bytes;
  if (const auto entries = json.value("entries", uint64_t{0})) options.limits.entries = entries;
  if (const auto ratio = json.value("ratio", uint64_t{0})) options.limits.ratio = ratio;
  return Unpack(options);
}

}  // namespace
}  // namespace tfemu::unpack

int main(int count, char** arguments) {
  using namespace tfemu::unpack;
  if (count != 2) {
    std::fprintf(stderr, "tfemu-unpack is started by tfemu and tfemud, never by hand\n");
    return 2;
  }
  std::setlocale(LC_CTYPE, "C.UTF-8");  // names in pax headers are UTF-8
  ::umask(022);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const auto record = Run(arguments[1]);
  if (record.ok()) {
    Print({{"record", tfemu::image::ToJson(record.value())}});
    return 0;
  }
  const tfemu::Error& error = record.error();
  Print({{"error",
          {{"reason", static_cast<int>(error.reason)}, {"message", error.message}, {"hint", error.hint}}}});
  return 1;
}
