// A thin RAII wrapper of SQLite: a connection, its prepared statements and transactions.
//
// A Database may be shared by threads: whoever uses it holds mutex() for as long as its statement
// or transaction lives. Everything that SQLite reports comes back as an Error.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tinyprof {

// A prepared statement. Parameters are numbered from 1, columns from 0.
class Statement {
 public:
  // Each Bind returns the statement, so that a call can be written in one line; a failure of a Bind
  // is returned by the Step that follows.
  Statement& BindText(int index, std::string_view text);
  Statement& BindBlob(int index, std::string_view bytes);
  Statement& BindInt(int index, int64_t value);
  Statement& BindNull(int index);

  // Goes on to the next row: true when there is one, false at the end.
  Result<bool> Step();
  // Runs a statement that gives no rows.
  Status Run();

  // Columns of the row that the last Step found.
  int64_t Int(int column) const;
  std::string Bytes(int column) const;  // text or blob; empty for NULL
  bool IsNull(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* connection, sqlite3_stmt* statement)
      : connection_(connection), statement_(statement) {}
  void Note(int code);

  sqlite3* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_error_ = 0;
};

class Database {
 public:
  // Opens or creates the file, with a write-ahead log and every commit forced to disk.
  // FAILED_PRECONDITION / "STORE_CORRUPT" for a file that is no database, "STORE_UNAVAILABLE" when
  // it cannot be opened or written.
  static Result<std::unique_ptr<Database>> Open(const std::string& path);

  Result<Statement> Prepare(std::string_view sql);
  // Runs statements, separated by semicolons, that give no rows.
  Status Execute(const std::string& sql);
  // Rows that the last INSERT, UPDATE or DELETE touched.
  int64_t changed_row_count() const;
  std::mutex& mutex() { return mutex_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}

  std::unique_ptr<sqlite3, Close> connection_;
  std::mutex mutex_;
};

// BEGIN IMMEDIATE now; rolls back when it goes out of scope without Commit().
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace tinyprof
