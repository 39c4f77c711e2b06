// The SQLite file when something goes wrong with it, and watches that go on over a restart.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulator/base/sim_executor.h"
#include "emulator/store/sqlite_journal.h"

namespace tfemu::store {
namespace {

namespace fs = std::filesystem;

api::Object Pod(const std::string& name, const std::string& note = "") {
  return api::Object(api::Json::object(
      {{"kind", "Pod"},
       {"metadata", api::Json::object({{"name", name}, {"namespace", "default"}, {"uid", "u"}})},
       {"note", note}}));
}

struct Folder {
  Folder() { CHECK(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
  std::string file() const { return path + "/state.db"; }
  std::string path = "/tmp/tfemu-store-XXXXXX";
};

// A store over its file, as a daemon has it.
struct Opened {
  explicit Opened(const std::string& path) {
    auto opened = SqliteJournal::Open(path);
    REQUIRE_MESSAGE(opened.ok(), opened.error().message);
    journal = std::move(opened).value();
    auto kept = journal->Load();
    REQUIRE_MESSAGE(kept.ok(), kept.error().message);
    store.emplace(executor, journal.get());
    store->Load(kept.value().objects, kept.value().revision, kept.value().past);
  }
  std::vector<std::string> SeenFrom(Revision from) {
    std::vector<std::string> seen;
    const auto id = store->Watch({"Pod", ""}, from, [&](const WatchEvent& event) {
      constexpr const char* kTypes[] = {"added", "modified", "deleted"};
      seen.push_back(std::string(kTypes[static_cast<int>(event.type)]) + " " + event.object.key().name + " " +
                     std::to_string(event.object.resource_version()));
    });
    if (!id.ok()) return {std::string(ToString(id.error().reason))};
    executor.Settle();
    store->Unwatch(id.value());
    return seen;
  }
  SimExecutor executor{Instant{}};
  std::unique_ptr<SqliteJournal> journal;
  std::optional<MemoryStore> store;
};

// What a killed daemon leaves: the files as they are, with nothing closed.
void CopyLive(const Folder& from, const Folder& to) {
  for (const char* end : {"", "-wal"})
    if (fs::exists(from.file() + end)) fs::copy_file(from.file() + end, to.file() + end);
}

void Overwrite(const std::string& path, int64_t from_end, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-from_end, std::ios::end);
  file << bytes;
  REQUIRE(file.good());
}

Result<SqliteJournal::Kept> LoadFrom(const std::string& path) {
  ASSIGN_OR_RETURN(const auto journal, SqliteJournal::Open(path));
  return journal->Load();
}

TEST_CASE("a watch resumes over a restart, with what it has not seen") {
  Folder folder, left;
  Opened before(folder.file());
  (void)before.store->Create(Pod("a"));  // 1
  (void)before.store->Create(Pod("b"));  // 2
  (void)before.store->Update(
      before.store->Get({"Pod", "default", "a"}).value().With("", api::Json::object({{"note", "x"}})));  // 3
  (void)before.store->Create(Pod("c"));                                                                  // 4
  CHECK(before.store->Delete({"Pod", "default", "b"}, "").ok());                                         // 5
  CopyLive(folder, left);
  Opened after(left.file());
  CHECK(after.SeenFrom(2) == std::vector<std::string>{"modified a 3", "added c 4", "deleted b 5"});
  CHECK(after.SeenFrom(4) == std::vector<std::string>{"deleted b 5"});
  CHECK(after.SeenFrom(0) == std::vector<std::string>{"added a 3", "added c 4", "deleted b 5"});
  CHECK(after.SeenFrom(5).empty());
  CHECK(after.store->Create(Pod("d")).value().resource_version() == 6);
}

TEST_CASE("deletions are kept for a while only, and an older watch is told so") {
  Folder folder;
  {
    Opened opened(folder.file());
    for (int i = 0; i < 1300; ++i) {
      (void)opened.store->Create(Pod("a"));
      (void)opened.store->Delete({"Pod", "default", "a"}, "");
    }
  }
  Opened again(folder.file());
  CHECK(again.store->List({}).revision == 2600);
  CHECK(again.SeenFrom(5) == std::vector<std::string>{"Expired"});
  CHECK(again.SeenFrom(2597).size() == 2);
}

TEST_CASE("what was deleted gives its room back") {
  Folder folder;
  {
    Opened first(folder.file());
    const std::string note(10'000, 'x');
    for (size_t round = 0; round < 2; ++round)
      for (size_t i = 0; i < MemoryStore::kHistory; ++i)
        REQUIRE(first.store->Create(Pod(std::to_string(round) + "-" + std::to_string(i), note)).ok());
    for (const api::Object& object : first.store->List({}).objects)
      REQUIRE(first.store->Delete(object.key(), "").ok());
  }
  // What a watch may still ask for is less than half of what there was; a batch is not dropped yet.
  CHECK(fs::file_size(folder.file()) < (MemoryStore::kHistory + 512) * 13'000);
}

TEST_CASE("a write that was cut short is as if it had not been") {
  Folder folder, left;
  Opened before(folder.file());
  (void)before.store->Create(Pod("a"));
  (void)before.store->Create(Pod("b", std::string(20'000, 'x')));
  CopyLive(folder, left);
  fs::resize_file(left.file() + "-wal", fs::file_size(left.file() + "-wal") - 3000);
  Opened after(left.file());
  CHECK(after.store->Get({"Pod", "default", "a"}).ok());
  CHECK_FALSE(after.store->Get({"Pod", "default", "b"}).ok());
  CHECK(after.store->Create(Pod("b")).ok());
}

TEST_CASE("a last page of the log that is not what was written is left out") {
  Folder folder, left;
  Opened before(folder.file());
  (void)before.store->Create(Pod("a"));
  (void)before.store->Create(Pod("b"));
  CopyLive(folder, left);
  Overwrite(left.file() + "-wal", 2000, std::string(2000, '\xa5'));
  Opened after(left.file());
  CHECK(after.store->Get({"Pod", "default", "a"}).ok());
  CHECK_FALSE(after.store->Get({"Pod", "default", "b"}).ok());
}

TEST_CASE("damage in the file is told, whether SQLite sees it or not") {
  for (const bool whole_page : {true, false}) {
    CAPTURE(whole_page);
    Folder folder;
    {
      Opened opened(folder.file());
      for (int i = 0; i < 40; ++i)
        (void)opened.store->Create(Pod("pod-" + std::to_string(i), std::string(900, 'n')));
    }
    if (whole_page) {
      Overwrite(folder.file(), 4096, std::string(4096, '\xa5'));
    } else {
      std::ifstream file(folder.file(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      const auto at = static_cast<int64_t>(bytes.size() - bytes.rfind("nnnnnnnn"));
      Overwrite(folder.file(), at, "m");
    }
    const auto kept = LoadFrom(folder.file());
    REQUIRE_FALSE(kept.ok());
    CHECK(kept.error().message.find("is damaged") != std::string::npos);
    CHECK(kept.error().hint.find("tfemu down --purge") != std::string::npos);
  }
}

TEST_CASE("a full disk refuses writes, loses none, and goes on when there is room") {
  Folder folder;
  if (::mount("tfemu", folder.path.c_str(), "tmpfs", 0, "size=1m") != 0) {
    MESSAGE("skipped: needs root for a small file system");
    return;
  }
  {
    Opened opened(folder.file());
    std::ofstream filler(folder.path + "/filler");
    filler << std::string(2 << 20, 'f');
    filler.close();
    int written = 0;
    Result<api::Object> last = Error{Reason::kInternal, ""};
    for (; written < 1000; ++written)
      if (last = opened.store->Create(Pod("pod-" + std::to_string(written), std::string(900, 'n')));
          !last.ok())
        break;
    REQUIRE_FALSE(last.ok());
    CHECK(last.error().hint.find("free some space") != std::string::npos);
    CHECK(opened.store->List({}).objects.size() == static_cast<size_t>(written));
    if (written > 0) CHECK_FALSE(opened.store->Delete({"Pod", "default", "pod-0"}, "").ok());
    fs::remove(folder.path + "/filler");
    CHECK(opened.store->Create(Pod("later")).ok());
    opened.store.reset();
    opened.journal.reset();
    Opened again(folder.file());
    CHECK(again.store->List({}).objects.size() == static_cast<size_t>(written) + 1);
  }
  ::umount(folder.path.c_str());
}

}  // namespace
}  // namespace tfemu::store
