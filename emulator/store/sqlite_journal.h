// Every object and the revision, kept in one SQLite file (WAL): what the store holds survives the daemon.
// Each document has a checksum, since SQLite has none of its own: damage is told, never passed on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/store/memory_store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tfemu::store {

class SqliteJournal final : public Journal {
 public:
  struct Kept {
    std::vector<api::Object> objects;
    Revision revision = 0;
    std::optional<PastWrites> past;  // unset: the file is from before it kept them
  };

  // Opens or makes the file, which no other process may have open.
  static Result<std::unique_ptr<SqliteJournal>> Open(const std::string& path);
  ~SqliteJournal() override;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;

  Result<Kept> Load();
  Result<void> Put(const api::Object& object, Revision revision) override;
  Result<void> Erase(const api::Object& last, Revision revision) override;

 private:
  SqliteJournal(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  Result<void> CheckWhole();
  Result<void> Run(sqlite3_stmt* statement);
  Error Problem(const std::string& what) const;

  Error Damaged(const std::string& what) const;
  Result<void> LoadObjects(Kept& kept);
  Result<void> LoadDeleted(Kept& kept);
  Result<std::optional<Revision>> Number(const char* key);
  Result<std::optional<Revision>> FirstOf(const std::string& sql);  // unset: no row
  Result<void> SetNumber(const char* key, Revision value);
  Result<void> Bury(const api::Object& last, Revision revision);
  Result<void> Do(const std::string& sql);

  sqlite3* db_;
  std::string path_;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* erase_ = nullptr;
  sqlite3_stmt* bury_ = nullptr;
  int deletions_ = 0;  // since the oldest were dropped
};

}  // namespace tfemu::store
