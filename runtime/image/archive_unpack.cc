#include "runtime/image/archive_unpack.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/image/child.h"
#include "runtime/image/file_lock.h"

namespace tfemu::image {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using Json = nlohmann::json;
using ProgressSink = std::function<void(const runtime::PrepareProgress&)>;

// What the child has said, line by line.
class Conversation {
 public:
  Conversation(std::string source, ProgressSink progress)
      : source_(std::move(source)), progress_(std::move(progress)) {}

  void AddLine(const std::string& line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      if (!line.empty()) last_words_ = line;
    } else if (const auto progress = json.find("progress"); progress != json.end()) {
      Report(*progress);
    } else if (const auto error = json.find("error"); error != json.end()) {
      error_ = Error{static_cast<Reason>(error->value("reason", 0)), error->value("message", ""),
                     error->value("hint", "")};
    } else {
      record_ = json.value("record", "");
    }
  }

  Result<std::string> End(int exit_code) {
    if (error_) return *error_;
    if (exit_code == 0 && !record_.empty()) return record_;
    return Error{.message = source_ + ": tfemu-unpack ended with code " + std::to_string(exit_code) +
                            (last_words_.empty() ? "" : ": " + last_words_)};
  }

 private:
  void Report(const Json& json) {
    if (!progress_) return;
    constexpr int kMebi = 20;
    const auto done = json.value("done", uint64_t{0}) >> kMebi,
               total = json.value("total", uint64_t{0}) >> kMebi;
    progress_({.done = static_cast<int>(done),
               .total = static_cast<int>(total),
               .text = "MiB, unpacking layer " + std::to_string(json.value("layer", 0)) + " of " +
                       std::to_string(json.value("layers", 0))});
  }

  std::string source_;
  ProgressSink progress_;
  std::optional<Error> error_;
  std::string record_, last_words_;
};

std::vector<std::string> Command(const ArchiveUnpack& unpack) {
  const Json argument{{"source", unpack.source},          {"layers", LayersFolder(unpack.cache_folder)},
                      {"select", unpack.select},          {"bytes", unpack.limits.bytes},
                      {"entries", unpack.limits.entries}, {"ratio", unpack.limits.ratio}};
  return {unpack.program, argument.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Result<void> WriteRecord(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  if (!(std::ofstream(partial, std::ios::trunc) << text << std::flush))
    return Error{.reason = Reason::kUnavailable, .message = "cannot write " + partial};
  std::error_code error;
  fs::rename(partial, path, error);
  if (error) return Error{.message = "cannot rename " + partial + ": " + error.message()};
  return {};
}

Result<void> MakeStore(const ArchiveUnpack& unpack, const std::string& record) {
  std::error_code error;
  for (const fs::path& folder :
       {fs::path(LayersFolder(unpack.cache_folder)), fs::path(record).parent_path()}) {
    fs::create_directories(folder, error);
    if (error)
      return Error{.reason = Reason::kForbidden,
                   .message = "cannot make " + folder.string() + ": " + error.message()};
  }
  // Programs in there may be set-uid, or belong to users who are somebody else on this host.
  fs::permissions(LayersFolder(unpack.cache_folder), fs::perms::owner_all, error);
  return {};
}

}  // namespace

asio::awaitable<Result<void>> UnpackArchive(ArchiveUnpack unpack, ProgressSink progress) {
  const std::string key = ArchiveKey(unpack.source, unpack.select);
  const std::string path = RecordPath(unpack.cache_folder, key);
  if (auto made = MakeStore(unpack, path); !made.ok()) co_return made;
  std::function<void()> on_wait = [&progress] {
    if (progress) progress({.text = "another tfemu is unpacking, waiting"});
  };
  Result<UniqueFd> lock = co_await LockFile(LayersFolder(unpack.cache_folder) + "/.lock", std::move(on_wait));
  if (!lock.ok()) co_return std::move(lock).error();
  if (LoadRecord(unpack.cache_folder, key)) co_return Result<void>();  // the other one has done it
  Conversation conversation(unpack.source, std::move(progress));
  ChildOptions options;
  options.argv = Command(unpack);
  options.kept_fd = lock.value().get();
  options.on_line = [&conversation](const std::string& line) { conversation.AddLine(line); };
  Result<int> code = co_await RunChild(std::move(options));
  if (!code.ok()) co_return std::move(code).error();
  Result<std::string> record = conversation.End(code.value());
  if (!record.ok()) co_return std::move(record).error();
  if (ArchiveKey(unpack.source, unpack.select) != key)
    co_return Error{.reason = Reason::kUnavailable,
                    .message = unpack.source + ": it changed while it was read"};
  co_return WriteRecord(path, record.value());
}

Result<std::string> FindUnpackProgram() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place :
       {"tfemu-unpack", "../libexec/tfemu/tfemu-unpack", "../../runtime/unpack/tfemu-unpack"})
    if (::access((here / place).c_str(), X_OK) == 0) return (here / place).lexically_normal().string();
  return Error{Reason::kNotFound, "tfemu-unpack is not beside " + here.string(),
               "it is built and installed together with tfemu"};
}

}  // namespace tfemu::image
