#include "emulator/store/sqlite_journal.h"

#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"

namespace tfemu::store {
namespace {

// A deletion leaves its revision behind in `meta`, so that revisions never repeat.
constexpr const char* kSchema =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA locking_mode=EXCLUSIVE;"
    "CREATE TABLE IF NOT EXISTS objects(kind TEXT, ns TEXT, name TEXT, doc TEXT, PRIMARY KEY(kind, ns, "
    "name)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;";
constexpr const char* kPut = "INSERT OR REPLACE INTO objects VALUES(?1, ?2, ?3, ?4)";
constexpr const char* kErase = "DELETE FROM objects WHERE kind = ?1 AND ns = ?2 AND name = ?3";
constexpr const char* kLoad = "SELECT doc FROM objects ORDER BY kind, ns, name";
constexpr const char* kRevision = "SELECT value FROM meta WHERE key = 'revision'";

void Bind(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

}  // namespace

Error SqliteJournal::Problem(const std::string& what) const {
  const int code = sqlite3_errcode(db_);
  std::string hint;
  if (code == SQLITE_FULL) hint = "the disk that holds the cluster's state is full: free some space";
  if (code == SQLITE_BUSY) hint = "another daemon of this cluster is running";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    hint = "the state is damaged: `tfemu down --purge` starts afresh";
  return Error{Reason::kUnavailable, what + ": " + sqlite3_errmsg(db_), hint};
}

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteJournal> journal(new SqliteJournal(db));
  if (code != SQLITE_OK) return journal->Problem("cannot open " + path);
  if (sqlite3_exec(db, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK)
    return journal->Problem("cannot use " + path);
  RETURN_IF_ERROR(journal->Prepare());
  return journal;
}

Result<void> SqliteJournal::Prepare() {
  if (sqlite3_prepare_v2(db_, kPut, -1, &put_, nullptr) != SQLITE_OK ||
      sqlite3_prepare_v2(db_, kErase, -1, &erase_, nullptr) != SQLITE_OK)
    return Problem("cannot prepare statements");
  return {};
}

SqliteJournal::~SqliteJournal() {
  sqlite3_finalize(put_);
  sqlite3_finalize(erase_);
  sqlite3_close(db_);
}

Result<SqliteJournal::Kept> SqliteJournal::Load() {
  Kept kept;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, kLoad, -1, &statement, nullptr) != SQLITE_OK)
    return Problem("cannot read the state");
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    auto object =
        api::ParseObject(std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, 0))));
    if (!object.ok()) continue;  // a torn row would have been refused by SQLite; nothing else writes here
    kept.revision = std::max<Revision>(kept.revision, object.value().resource_version());
    kept.objects.push_back(std::move(object).value());
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) return Problem("cannot read the state");
  if (sqlite3_prepare_v2(db_, kRevision, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    kept.revision =
        std::max<Revision>(kept.revision, static_cast<Revision>(sqlite3_column_int64(statement, 0)));
  sqlite3_finalize(statement);
  return kept;
}

Result<void> SqliteJournal::Run(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  if (code != SQLITE_DONE) return Problem("cannot write the state");
  return {};
}

Result<void> SqliteJournal::Put(const api::Object& object, Revision) {
  const std::string doc = object.doc().dump(-1, ' ', false, api::Json::error_handler_t::replace);
  Bind(put_, 1, object.key().kind);
  Bind(put_, 2, object.key().ns);
  Bind(put_, 3, object.key().name);
  Bind(put_, 4, doc);
  return Run(put_);
}

Result<void> SqliteJournal::Erase(const api::ObjectKey& key, Revision revision) {
  const std::string next = "INSERT OR REPLACE INTO meta VALUES('revision', " + std::to_string(revision) + ")";
  if (sqlite3_exec(db_, "BEGIN", nullptr, nullptr, nullptr) != SQLITE_OK)
    return Problem("cannot write the state");
  Bind(erase_, 1, key.kind);
  Bind(erase_, 2, key.ns);
  Bind(erase_, 3, key.name);
  const bool done = sqlite3_exec(db_, next.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK &&
                    Run(erase_).ok() && sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
  if (done) return {};
  const Error error = Problem("cannot write the state");
  sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  return error;
}

}  // namespace tfemu::store
