// Every object and the revision, kept in one SQLite file (WAL): what the store holds survives the daemon.
#pragma once

#include <memory>
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
  };

  // Opens or makes the file, which no other process may have open.
  static Result<std::unique_ptr<SqliteJournal>> Open(const std::string& path);
  ~SqliteJournal() override;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;

  Result<Kept> Load();
  Result<void> Put(const api::Object& object, Revision revision) override;
  Result<void> Erase(const api::ObjectKey& key, Revision revision) override;

 private:
  explicit SqliteJournal(sqlite3* db) : db_(db) {}
  Result<void> Prepare();
  Result<void> Run(sqlite3_stmt* statement);
  Error Problem(const std::string& what) const;

  sqlite3* db_;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* erase_ = nullptr;
};

}  // namespace tfemu::store
