// The store: versions, watches, history, the SQLite file behind it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "emulator/base/sim_executor.h"
#include "emulator/store/sqlite_journal.h"

namespace tfemu::store {
namespace {

api::Object Pod(const std::string& name, const std::string& uid = "u", const std::string& note = "") {
  return api::Object(api::Json::object(
      {{"kind", "Pod"},
       {"metadata", api::Json::object({{"name", name}, {"namespace", "default"}, {"uid", uid}})},
       {"note", note}}));
}

const api::ObjectKey kA{"Pod", "default", "a"};

TEST_CASE("create, update with the right version, delete by uid") {
  SimExecutor executor{Instant{}};
  MemoryStore store(executor);
  const auto made = store.Create(Pod("a"));
  REQUIRE(made.ok());
  CHECK(made.value().resource_version() == 1);
  CHECK(store.Create(Pod("a")).error().reason == Reason::kAlreadyExists);

  const auto changed = store.Update(made.value().With("", api::Json::object({{"note", "new"}})));
  REQUIRE(changed.ok());
  CHECK(changed.value().resource_version() == 2);
  CHECK(store.Update(made.value()).error().reason == Reason::kConflict);
  CHECK(store.Update(changed.value()).value().resource_version() == 2);  // nothing changed: no write

  CHECK(store.Delete(kA, "other").error().reason == Reason::kNotFound);
  CHECK(store.Delete(kA, "u").ok());
  CHECK(store.Get(kA).error().reason == Reason::kNotFound);
}

TEST_CASE("a watch sees each write once, in order, and never inside the write") {
  SimExecutor executor{Instant{}};
  MemoryStore store(executor);
  (void)store.Create(Pod("before"));
  std::vector<std::string> seen;
  const auto id = store.Watch({"Pod", ""}, store.List({}).revision, [&](const WatchEvent& event) {
    seen.push_back(std::to_string(static_cast<int>(event.type)) + event.object.key().name +
                   std::to_string(event.object.resource_version()));
  });
  REQUIRE(id.ok());
  const auto a = store.Create(Pod("a"));
  (void)store.Update(a.value().With("", api::Json::object({{"note", "x"}})));
  (void)store.Delete(kA, "");
  CHECK(seen.empty());
  executor.Settle();
  CHECK(seen == std::vector<std::string>{"0a2", "1a3", "2a4"});
  store.Unwatch(id.value());
  (void)store.Create(Pod("b"));
  executor.Settle();
  CHECK(seen.size() == 3);
}

TEST_CASE("a watch resumes from a revision, or is told that it is too old") {
  SimExecutor executor{Instant{}};
  MemoryStore store(executor);
  for (size_t i = 0; i < MemoryStore::kHistory + 10; ++i) {
    (void)store.Create(Pod("a"));
    (void)store.Delete(kA, "");
  }
  const Revision now = store.List({}).revision;
  int events = 0;
  REQUIRE(store.Watch({"Pod", ""}, now - 3, [&](const WatchEvent&) { ++events; }).ok());
  executor.Settle();
  CHECK(events == 3);
  const auto old = store.Watch({"Pod", ""}, 5, [](const WatchEvent&) {});
  CHECK(old.error().reason == Reason::kExpired);
}

struct Folder {
  Folder() { CHECK(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path = "/tmp/tfemu-store-XXXXXX";
};

TEST_CASE("what was written is there after the file is opened again, and revisions go on") {
  Folder folder;
  SimExecutor executor{Instant{}};
  for (int round = 0; round < 2; ++round) {
    auto journal = SqliteJournal::Open(folder.path + "/state.db");
    REQUIRE(journal.ok());
    auto kept = journal.value()->Load();
    REQUIRE(kept.ok());
    MemoryStore store(executor, journal.value().get());
    store.Load(kept.value().objects, kept.value().revision);
    if (round == 0) {
      (void)store.Create(Pod("a", "u", "caf\xc3\xa9"));
      (void)store.Create(Pod("b"));
      CHECK(store.Delete({"Pod", "default", "b"}, "").ok());
    } else {
      CHECK(store.Get(kA).value().doc()["note"] == "caf\xc3\xa9");
      CHECK(store.List({}).objects.size() == 1);
      CHECK(store.List({}).revision == 3);  // the deletion's, although no object carries it
      CHECK(store.Create(Pod("c")).value().resource_version() == 4);
    }
  }
}

TEST_CASE("a file that is no database is refused with a way out") {
  Folder folder;
  const std::string path = folder.path + "/state.db";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs(std::string(8192, 'x').c_str(), file);
  std::fclose(file);
  const auto journal = SqliteJournal::Open(path);
  REQUIRE_FALSE(journal.ok());
  CHECK(journal.error().hint.find("--purge") != std::string::npos);
}

}  // namespace
}  // namespace tfemu::store
