#include "emulator/store/sqlite_journal.h"

#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/base/rng.h"

namespace tfemu::store {
namespace {

// NORMAL: a killed process loses nothing, a power failure the last writes, and either leaves a whole file.
// auto_vacuum counts for a new file only.
constexpr const char* kSchema =
    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA "
    "locking_mode=EXCLUSIVE;"
    "CREATE TABLE IF NOT EXISTS objects(kind TEXT, ns TEXT, name TEXT, doc TEXT, created INTEGER, sum "
    "INTEGER,"
    " PRIMARY KEY(kind, ns, name)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS deleted(revision INTEGER PRIMARY KEY, doc TEXT, sum INTEGER);"
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;";
constexpr const char* kPut =
    "INSERT INTO objects VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
    " ON CONFLICT DO UPDATE SET doc = excluded.doc, sum = excluded.sum";
constexpr const char* kErase = "DELETE FROM objects WHERE kind = ?1 AND ns = ?2 AND name = ?3";
constexpr const char* kBury = "INSERT INTO deleted VALUES(?1, ?2, ?3)";
// Of the last 500 deletions the documents are kept, however few writes ago they were.
constexpr const char* kOldestKept = "SELECT revision FROM deleted ORDER BY revision DESC LIMIT 1 OFFSET 500";
constexpr const char* kShrink = "PRAGMA incremental_vacuum(4096)";  // pages
constexpr const char* kLoadObjects = "SELECT doc, sum, created FROM objects ORDER BY kind, ns, name";
constexpr const char* kLoadDeleted = "SELECT doc, sum, 0 FROM deleted ORDER BY revision";

constexpr Revision kPast = MemoryStore::kHistory;  // as far back a watch can resume across a restart
constexpr int kBuryBatch = 128;                    // deletions after which those older than that are dropped

void Bind(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

void Bind(sqlite3_stmt* statement, int index, uint64_t number) {
  sqlite3_bind_int64(statement, index, static_cast<sqlite3_int64>(number));
}

std::string TextOf(const api::Object& object) {
  return object.doc().dump(-1, ' ', false, api::Json::error_handler_t::replace);
}

struct Statement {
  ~Statement() { sqlite3_finalize(raw); }
  sqlite3_stmt* raw = nullptr;
};

// A document and its checksum; files from before there were checksums have none.
struct Row {
  std::string doc;
  bool damaged = false;
  Revision created = 0;
};

Row ReadRow(sqlite3_stmt* statement) {
  Row row;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  if (text != nullptr) row.doc.assign(text, static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
  const bool has_sum = sqlite3_column_type(statement, 1) != SQLITE_NULL;
  row.damaged = has_sum && static_cast<uint64_t>(sqlite3_column_int64(statement, 1)) != Fnv1a(row.doc);
  row.created = static_cast<Revision>(sqlite3_column_int64(statement, 2));
  return row;
}

}  // namespace

Error SqliteJournal::Problem(const std::string& what) const {
  const int code = sqlite3_errcode(db_);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return Damaged(sqlite3_errmsg(db_));
  std::string hint;
  if (code == SQLITE_FULL || code == SQLITE_IOERR)
    hint = "the disk that holds the cluster's state is full or fails: free some space";
  if (code == SQLITE_BUSY) hint = "another daemon of this cluster is running";
  return Error{Reason::kUnavailable, what + ": " + sqlite3_errmsg(db_), hint};
}

Error SqliteJournal::Damaged(const std::string& what) const {
  return Error{Reason::kUnavailable, "the cluster's state in " + path_ + " is damaged: " + what,
               "pods that still run go on; put a good copy of the file there, or end them and start afresh: "
               "tfemu down --purge"};
}

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteJournal> journal(new SqliteJournal(db, path));
  if (code != SQLITE_OK) return journal->Problem("cannot open " + path);
  if (sqlite3_exec(db, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK)
    return journal->Problem("cannot use " + path);
  for (const char* column : {"created INTEGER", "sum INTEGER"})  // fails where it is there
    sqlite3_exec(db, ("ALTER TABLE objects ADD COLUMN " + std::string(column)).c_str(), nullptr, nullptr,
                 nullptr);
  if (sqlite3_prepare_v2(db, kPut, -1, &journal->put_, nullptr) != SQLITE_OK ||
      sqlite3_prepare_v2(db, kErase, -1, &journal->erase_, nullptr) != SQLITE_OK ||
      sqlite3_prepare_v2(db, kBury, -1, &journal->bury_, nullptr) != SQLITE_OK)
    return journal->Problem("cannot prepare statements");
  return journal;
}

SqliteJournal::~SqliteJournal() {
  sqlite3_finalize(put_);
  sqlite3_finalize(erase_);
  sqlite3_finalize(bury_);
  sqlite3_close(db_);
}

Result<SqliteJournal::Kept> SqliteJournal::Load() {
  Kept kept;
  RETURN_IF_ERROR(CheckWhole());
  ASSIGN_OR_RETURN(const auto since, Number("since"));
  if (since) kept.past = PastWrites{*since, {}, {}};
  RETURN_IF_ERROR(LoadObjects(kept));
  RETURN_IF_ERROR(LoadDeleted(kept));
  ASSIGN_OR_RETURN(const auto revision, Number("revision"));
  kept.revision = std::max(kept.revision, revision.value_or(0));
  if (!since) RETURN_IF_ERROR(SetNumber("since", kept.revision));
  return kept;
}

// What SQLite can tell of its own structure; the checksums tell of the rest.
Result<void> SqliteJournal::CheckWhole() {
  Statement check;
  if (sqlite3_prepare_v2(db_, "PRAGMA quick_check(1)", -1, &check.raw, nullptr) != SQLITE_OK ||
      sqlite3_step(check.raw) != SQLITE_ROW)
    return Problem("cannot read the state");
  const std::string verdict = reinterpret_cast<const char*>(sqlite3_column_text(check.raw, 0));
  if (verdict != "ok") return Damaged(verdict);
  return {};
}

Result<void> SqliteJournal::LoadObjects(Kept& kept) {
  Statement rows;
  if (sqlite3_prepare_v2(db_, kLoadObjects, -1, &rows.raw, nullptr) != SQLITE_OK)
    return Problem("cannot read the state");
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(rows.raw)) == SQLITE_ROW) {
    const Row row = ReadRow(rows.raw);
    auto object = api::ParseObject(row.doc);
    if (row.damaged || !object.ok()) return Damaged("an object in it is not what was written");
    kept.revision = std::max<Revision>(kept.revision, object.value().resource_version());
    if (kept.past && row.created > kept.past->since) kept.past->created[object.value().key()] = row.created;
    kept.objects.push_back(std::move(object).value());
  }
  if (code != SQLITE_DONE) return Problem("cannot read the state");
  return {};
}

Result<void> SqliteJournal::LoadDeleted(Kept& kept) {
  Statement rows;
  if (sqlite3_prepare_v2(db_, kLoadDeleted, -1, &rows.raw, nullptr) != SQLITE_OK)
    return Problem("cannot read the state");
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(rows.raw)) == SQLITE_ROW) {
    const Row row = ReadRow(rows.raw);
    auto object = api::ParseObject(row.doc);
    if (row.damaged || !object.ok()) return Damaged("a deleted object in it is not what was written");
    kept.revision = std::max<Revision>(kept.revision, object.value().resource_version());
    if (kept.past) kept.past->deleted.push_back(std::move(object).value());
  }
  if (code != SQLITE_DONE) return Problem("cannot read the state");
  return {};
}

Result<std::optional<Revision>> SqliteJournal::Number(const char* key) {
  return FirstOf("SELECT value FROM meta WHERE key = '" + std::string(key) + "'");
}

Result<std::optional<Revision>> SqliteJournal::FirstOf(const std::string& sql) {
  Statement query;
  if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &query.raw, nullptr) != SQLITE_OK)
    return Problem("cannot read the state");
  const int code = sqlite3_step(query.raw);
  if (code == SQLITE_ROW) return std::optional(static_cast<Revision>(sqlite3_column_int64(query.raw, 0)));
  if (code != SQLITE_DONE) return Problem("cannot read the state");
  return std::optional<Revision>();
}

Result<void> SqliteJournal::SetNumber(const char* key, Revision value) {
  return Do("INSERT OR REPLACE INTO meta VALUES('" + std::string(key) + "', " + std::to_string(value) + ")");
}

Result<void> SqliteJournal::Do(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return Problem("cannot write the state");
  return {};
}

Result<void> SqliteJournal::Run(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  const Result<void> done = code == SQLITE_DONE ? Result<void>() : Problem("cannot write the state");
  sqlite3_reset(statement);
  return done;
}

Result<void> SqliteJournal::Put(const api::Object& object, Revision revision) {
  const std::string doc = TextOf(object);
  Bind(put_, 1, object.key().kind);
  Bind(put_, 2, object.key().ns);
  Bind(put_, 3, object.key().name);
  Bind(put_, 4, doc);
  Bind(put_, 5, revision);
  Bind(put_, 6, Fnv1a(doc));
  return Run(put_);
}

Result<void> SqliteJournal::Erase(const api::Object& last, Revision revision) {
  RETURN_IF_ERROR(Do("BEGIN"));
  Result<void> done = Bury(last, revision);
  if (done.ok()) done = Do("COMMIT");
  if (!done.ok()) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  else if (deletions_ == 0)
    sqlite3_exec(db_, kShrink, nullptr, nullptr, nullptr);  // the next batch tries again
  return done;
}

Result<void> SqliteJournal::Bury(const api::Object& last, Revision revision) {
  Bind(erase_, 1, last.key().kind);
  Bind(erase_, 2, last.key().ns);
  Bind(erase_, 3, last.key().name);
  RETURN_IF_ERROR(Run(erase_));
  const std::string doc = TextOf(last);
  Bind(bury_, 1, revision);
  Bind(bury_, 2, doc);
  Bind(bury_, 3, Fnv1a(doc));
  RETURN_IF_ERROR(Run(bury_));
  if (++deletions_ < kBuryBatch || revision <= kPast) return {};
  deletions_ = 0;
  ASSIGN_OR_RETURN(const auto many, FirstOf(kOldestKept));
  const Revision since = std::max(revision - kPast, many.value_or(0));
  RETURN_IF_ERROR(Do("DELETE FROM deleted WHERE revision <= " + std::to_string(since)));
  return SetNumber("since", since);
}

}  // namespace tfemu::store
