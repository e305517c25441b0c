#include "daemon/store/schema.h"

#include <fmt/format.h>

#include <array>

namespace tinyprof {
namespace {

// Migration i brings a file from user_version i to i + 1. A migration that was released is never
// changed; a new one is appended.
//
// `sequence` orders runs by creation and is never used again (AUTOINCREMENT), so that a page token
// stays valid while runs come and go. `state` is v1::RunState; times are ns since the Unix epoch.
constexpr std::array kMigrations = {
    R"(CREATE TABLE runs (
         sequence INTEGER PRIMARY KEY AUTOINCREMENT,
         id TEXT NOT NULL UNIQUE,
         request_id TEXT UNIQUE,
         state INTEGER NOT NULL,
         create_time_ns INTEGER NOT NULL,
         start_time_ns INTEGER,
         end_time_ns INTEGER,
         spec BLOB NOT NULL,
         error BLOB,
         report BLOB
       ) STRICT;
       CREATE INDEX runs_by_state ON runs (state, sequence);
       CREATE TABLE rooflines (
         sequence INTEGER PRIMARY KEY AUTOINCREMENT,
         fingerprint TEXT NOT NULL,
         roofline BLOB NOT NULL
       ) STRICT;
       CREATE INDEX rooflines_by_fingerprint ON rooflines (fingerprint, sequence);)",
    R"(CREATE TABLE counter_reports (
         sequence INTEGER PRIMARY KEY AUTOINCREMENT,
         fingerprint TEXT NOT NULL,
         report BLOB NOT NULL
       ) STRICT;
       CREATE INDEX counter_reports_by_fingerprint ON counter_reports (fingerprint, sequence);)",
};

Result<int64_t> SchemaVersion(Database& database) {
  TINYPROF_ASSIGN_OR_RETURN(Statement query, database.Prepare("PRAGMA user_version"));
  TINYPROF_RETURN_IF_ERROR(query.Step());
  return query.Int(0);
}

// A file that no migration was run on holds nothing yet.
Status CheckEmpty(Database& database) {
  TINYPROF_ASSIGN_OR_RETURN(Statement query,
                            database.Prepare("SELECT count(*), min(name) FROM sqlite_schema"));
  TINYPROF_RETURN_IF_ERROR(query.Step());
  if (query.Int(0) == 0) return {};
  return Fail(ErrorCode::kFailedPrecondition, "STORE_CORRUPT",
              fmt::format("the store has no schema number, though it holds '{}': it is another "
                          "program's, or it was damaged; move it away or use another state "
                          "directory",
                          query.Bytes(1)));
}

}  // namespace

Status MigrateSchema(Database& database) {
  const std::lock_guard lock(database.mutex());
  TINYPROF_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t version, SchemaVersion(database));
  if (version < 0) {
    return Fail(ErrorCode::kFailedPrecondition, "STORE_CORRUPT",
                fmt::format("the store has schema {}, which no version of tinyprofd writes: it is "
                            "damaged; restore it from a backup, move it away or use another state "
                            "directory",
                            version),
                {{"found", std::to_string(version)}});
  }
  if (version > static_cast<int64_t>(kMigrations.size())) {
    return Fail(
        ErrorCode::kFailedPrecondition, "STORE_TOO_NEW",
        fmt::format("the store has schema {} and this version of tinyprofd knows up to {}: "
                    "start the newer version or use another state directory",
                    version, kMigrations.size()),
        {{"found", std::to_string(version)}, {"supported", std::to_string(kMigrations.size())}});
  }
  if (version == 0) TINYPROF_RETURN_IF_ERROR(CheckEmpty(database));
  for (size_t i = static_cast<size_t>(version); i < kMigrations.size(); ++i) {
    TINYPROF_RETURN_IF_ERROR(database.Execute(kMigrations[i]));
  }
  TINYPROF_RETURN_IF_ERROR(
      database.Execute(fmt::format("PRAGMA user_version = {}", kMigrations.size())));
  return transaction.Commit();
}

}  // namespace tinyprof
