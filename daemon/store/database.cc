#include "daemon/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace tinyprof {
namespace {

constexpr int kBusyTimeoutMs = 5000;

// Empty for a connection that could not be opened.
std::string FileOf(sqlite3* connection) {
  const char* path = connection ? sqlite3_db_filename(connection, "main") : nullptr;
  return path ? path : "";
}

tl::unexpected<Error> SqliteError(sqlite3* connection, int code, const std::string& file) {
  const int primary = code & 0xff;
  const std::string detail = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {
    return Fail(
        ErrorCode::kFailedPrecondition, "STORE_CORRUPT",
        fmt::format("the store {} is damaged ({}): restore it from a backup or move it away, "
                    "and tinyprofd starts a new one",
                    file, detail),
        {{"detail", detail}, {"file", file}});
  }
  if (primary == SQLITE_CONSTRAINT) {
    return Fail(ErrorCode::kAlreadyExists, "CONSTRAINT",
                fmt::format("the store refused a change: {}", detail), {{"detail", detail}});
  }
  return Fail(ErrorCode::kUnavailable, "STORE_UNAVAILABLE",
              fmt::format("the store {} cannot be used ({}): check its disk and its permissions",
                          file, detail),
              {{"detail", detail}, {"file", file}});
}

tl::unexpected<Error> SqliteError(sqlite3* connection, int code) {
  return SqliteError(connection, code, FileOf(connection));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::Note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

Statement& Statement::BindText(int index, std::string_view text) {
  Note(sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::BindBlob(int index, std::string_view bytes) {
  // A null pointer would bind NULL: an empty blob needs an address.
  const char* data = bytes.empty() ? "" : bytes.data();
  Note(sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::BindInt(int index, int64_t value) {
  Note(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::BindNull(int index) {
  Note(sqlite3_bind_null(statement_.get(), index));
  return *this;
}

Result<bool> Statement::Step() {
  if (bind_error_ != SQLITE_OK) return SqliteError(connection_, bind_error_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqliteError(connection_, sqlite3_extended_errcode(connection_));
}

Status Statement::Run() {
  TINYPROF_RETURN_IF_ERROR(Step());
  return {};
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Statement::Bytes(int column) const {
  // The length is that of the form which the last pointer call asked for, hence this order.
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string(static_cast<const char*>(data), size) : std::string();
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &connection,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(connection));
  if (code != SQLITE_OK) return SqliteError(connection, code, path);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  TINYPROF_RETURN_IF_ERROR(database->Execute("PRAGMA journal_mode = WAL"));
  TINYPROF_RETURN_IF_ERROR(database->Execute("PRAGMA synchronous = FULL"));
  TINYPROF_RETURN_IF_ERROR(database->Execute("PRAGMA trusted_schema = OFF"));
  return database;
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(connection_.get(), code);
  return Statement(connection_.get(), statement);
}

Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(connection_.get(), code);
  return {};
}

int64_t Database::changed_row_count() const { return sqlite3_changes64(connection_.get()); }

Result<Transaction> Transaction::Begin(Database& database) {
  TINYPROF_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // A rollback fails only when SQLite has rolled back already.
  if (database_) (void)database_->Execute("ROLLBACK");
}

Status Transaction::Commit() {
  TINYPROF_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace tinyprof
