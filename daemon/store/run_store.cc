#include "daemon/store/run_store.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <charconv>

namespace tinyprof {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::string_view kColumns =
    "id, state, create_time_ns, start_time_ns, end_time_ns, spec, error, sequence";
constexpr int kSequenceColumn = 7;
constexpr int kReportColumn = 8;

tl::unexpected<Error> RunNotFound(std::string_view id) {
  return Fail(
      ErrorCode::kNotFound, "RUN_NOT_FOUND",
      fmt::format("there is no run {}: it was deleted, is no longer kept, or never existed", id),
      {{"id", std::string(id)}});
}

// A row whose bytes no longer are what was written was damaged in a way that SQLite does not see.
Error Damaged(const std::string& id) {
  return {ErrorCode::kFailedPrecondition,
          "STORE_CORRUPT",
          fmt::format("what is stored of run {} is damaged: delete it, or restore the store from a "
                      "backup",
                      id),
          {{"id", id}}};
}

// The run in the current row of a query for kColumns.
Result<v1::Run> RunFromRow(const Statement& row) {
  v1::Run run;
  run.set_id(row.Bytes(0));
  const int64_t state = row.Int(1);
  const bool is_state = state >= v1::RUN_STATE_QUEUED && state <= v1::RunState_MAX;
  if (!is_state || !run.mutable_spec()->ParseFromString(row.Bytes(5)) ||
      (!row.IsNull(6) && !run.mutable_error()->ParseFromString(row.Bytes(6)))) {
    return tl::unexpected(Damaged(run.id()));
  }
  run.set_state(static_cast<v1::RunState>(state));
  *run.mutable_create_time() = TimeUtil::NanosecondsToTimestamp(row.Int(2));
  if (!row.IsNull(3)) *run.mutable_start_time() = TimeUtil::NanosecondsToTimestamp(row.Int(3));
  if (!row.IsNull(4)) *run.mutable_end_time() = TimeUtil::NanosecondsToTimestamp(row.Int(4));
  return run;
}

// A damaged run as a list shows it, beside those that can be read.
v1::Run DamagedFromRow(const Statement& row) {
  v1::Run run;
  run.set_id(row.Bytes(0));
  run.set_state(v1::RUN_STATE_FAILED);
  *run.mutable_create_time() = TimeUtil::NanosecondsToTimestamp(row.Int(2));
  const Error error = Damaged(run.id());
  run.mutable_error()->set_reason(error.reason);
  run.mutable_error()->set_message(error.message);
  return run;
}

void BindTime(Statement& statement, int index, bool present,
              const google::protobuf::Timestamp& time) {
  if (present) {
    statement.BindInt(index, TimeUtil::TimestampToNanoseconds(time));
  } else {
    statement.BindNull(index);
  }
}

}  // namespace

RunStore::RunStore(Database& database, int64_t max_run_count)
    : database_(database), max_run_count_(std::max<int64_t>(max_run_count, 1)) {}

Status RunStore::Create(const v1::Run& run, std::string_view request_id) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database_));
  TINYPROF_ASSIGN_OR_RETURN(
      Statement insert,
      database_.Prepare("INSERT INTO runs (id, request_id, state, create_time_ns, spec) "
                        "VALUES (?1, ?2, ?3, ?4, ?5)"));
  insert.BindText(1, run.id()).BindInt(3, run.state());
  if (request_id.empty()) {
    insert.BindNull(2);
  } else {
    insert.BindText(2, request_id);
  }
  insert.BindInt(4, TimeUtil::TimestampToNanoseconds(run.create_time()))
      .BindBlob(5, run.spec().SerializeAsString());
  if (Status done = insert.Run(); !done.has_value()) {
    if (done.error().code != ErrorCode::kAlreadyExists) return done;
    return Fail(ErrorCode::kAlreadyExists, "RUN_EXISTS",
                fmt::format("run {} or request {} exists already", run.id(), request_id),
                {{"id", run.id()}, {"request_id", std::string(request_id)}});
  }
  TINYPROF_RETURN_IF_ERROR(ForgetOldest());
  return transaction.Commit();
}

Status RunStore::ForgetOldest() {
  TINYPROF_ASSIGN_OR_RETURN(
      Statement forget,
      database_.Prepare("DELETE FROM runs WHERE state NOT IN (?1, ?2) AND sequence <= "
                        "(SELECT sequence FROM runs ORDER BY sequence DESC LIMIT 1 OFFSET ?3)"));
  forget.BindInt(1, v1::RUN_STATE_QUEUED)
      .BindInt(2, v1::RUN_STATE_RUNNING)
      .BindInt(3, max_run_count_);
  return forget.Run();
}

Status RunStore::Update(const v1::Run& run) { return Write(run, false); }

Status RunStore::Finish(const v1::Run& run) { return Write(run, true); }

// One UPDATE is one transaction: state and report reach the disk together or not at all.
Status RunStore::Write(const v1::Run& run, bool with_report) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement update,
      database_.Prepare(with_report ? "UPDATE runs SET state = ?2, start_time_ns = ?3, "
                                      "end_time_ns = ?4, error = ?5, report = ?6 WHERE id = ?1"
                                    : "UPDATE runs SET state = ?2, start_time_ns = ?3, "
                                      "end_time_ns = ?4, error = ?5 WHERE id = ?1"));
  update.BindText(1, run.id()).BindInt(2, run.state());
  BindTime(update, 3, run.has_start_time(), run.start_time());
  BindTime(update, 4, run.has_end_time(), run.end_time());
  if (run.has_error()) {
    update.BindBlob(5, run.error().SerializeAsString());
  } else {
    update.BindNull(5);
  }
  if (with_report && run.has_report()) {
    update.BindBlob(6, run.report().SerializeAsString());
  }
  TINYPROF_RETURN_IF_ERROR(update.Run());
  if (database_.changed_row_count() == 0) return RunNotFound(run.id());
  return {};
}

Result<v1::Run> RunStore::Get(std::string_view id) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement query,
      database_.Prepare(fmt::format("SELECT {}, report FROM runs WHERE id = ?1", kColumns)));
  TINYPROF_ASSIGN_OR_RETURN(const bool found, query.BindText(1, id).Step());
  if (!found) return RunNotFound(id);
  TINYPROF_ASSIGN_OR_RETURN(v1::Run run, RunFromRow(query));
  if (!query.IsNull(kReportColumn)) {
    if (!run.mutable_report()->ParseFromString(query.Bytes(kReportColumn))) {
      return tl::unexpected(Damaged(run.id()));
    }
  }
  return run;
}

Result<std::optional<v1::Run>> RunStore::FindByRequestId(std::string_view request_id) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement query,
      database_.Prepare(fmt::format("SELECT {} FROM runs WHERE request_id = ?1", kColumns)));
  TINYPROF_ASSIGN_OR_RETURN(const bool found, query.BindText(1, request_id).Step());
  if (!found) return std::nullopt;
  return RunFromRow(query);
}

Result<RunPage> RunStore::List(int32_t page_size, std::string_view page_token) {
  int64_t before = INT64_MAX;
  if (!page_token.empty()) {
    const char* end = page_token.data() + page_token.size();
    const auto [stopped, error] = std::from_chars(page_token.data(), end, before);
    if (error != std::errc() || stopped != end) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_PAGE_TOKEN",
                  "page_token must be the next_page_token of the page before");
    }
  }
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement query,
      database_.Prepare(fmt::format(
          "SELECT {} FROM runs WHERE sequence < ?1 ORDER BY sequence DESC LIMIT ?2", kColumns)));
  // One more than asked for tells whether there is a next page.
  query.BindInt(1, before).BindInt(2, int64_t{page_size} + 1);
  RunPage page;
  int64_t last_sequence = 0;
  while (true) {
    TINYPROF_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) return page;
    if (page.runs.size() == static_cast<size_t>(page_size)) {
      page.next_page_token = std::to_string(last_sequence);
      return page;
    }
    last_sequence = query.Int(kSequenceColumn);
    Result<v1::Run> run = RunFromRow(query);
    page.runs.push_back(run.has_value() ? *std::move(run) : DamagedFromRow(query));
  }
}

Status RunStore::Delete(std::string_view id) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database_));
  TINYPROF_ASSIGN_OR_RETURN(Statement query,
                            database_.Prepare("SELECT state FROM runs WHERE id = ?1"));
  TINYPROF_ASSIGN_OR_RETURN(const bool found, query.BindText(1, id).Step());
  if (!found) return RunNotFound(id);
  if (query.Int(0) == v1::RUN_STATE_QUEUED || query.Int(0) == v1::RUN_STATE_RUNNING) {
    return Fail(ErrorCode::kFailedPrecondition, "RUN_NOT_ENDED",
                fmt::format("run {} goes on: cancel it before it is deleted", id),
                {{"id", std::string(id)}});
  }
  TINYPROF_ASSIGN_OR_RETURN(Statement remove, database_.Prepare("DELETE FROM runs WHERE id = ?1"));
  TINYPROF_RETURN_IF_ERROR(remove.BindText(1, id).Run());
  return transaction.Commit();
}

Result<int64_t> RunStore::FailInterrupted() {
  v1::RunError error;
  error.set_reason("DAEMON_RESTARTED");
  error.set_message("tinyprofd was stopped before the run had ended: start it again");
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement update,
      database_.Prepare("UPDATE runs SET state = ?1, error = ?2, end_time_ns = ?3 "
                        "WHERE state IN (?4, ?5)"));
  update.BindInt(1, v1::RUN_STATE_FAILED)
      .BindBlob(2, error.SerializeAsString())
      .BindInt(3, TimeUtil::TimestampToNanoseconds(TimeUtil::GetCurrentTime()))
      .BindInt(4, v1::RUN_STATE_QUEUED)
      .BindInt(5, v1::RUN_STATE_RUNNING);
  TINYPROF_RETURN_IF_ERROR(update.Run());
  return database_.changed_row_count();
}

}  // namespace tinyprof
