// What was found out about a host, by the fingerprint of the host that it holds for. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "daemon/store/database.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

// The table of each kind of record, with the columns (sequence, fingerprint, record), and what a
// person calls it.
template <class Record>
struct HostRecordTable;

template <>
struct HostRecordTable<v1::Roofline> {
  static constexpr std::string_view kTable = "rooflines";
  static constexpr std::string_view kColumn = "roofline";
  static constexpr std::string_view kDamaged =
      "the stored roofline is damaged: measure it anew with `tinyprof-client roofline --measure`";
};

template <>
struct HostRecordTable<v1::CounterReport> {
  static constexpr std::string_view kTable = "counter_reports";
  static constexpr std::string_view kColumn = "report";
  static constexpr std::string_view kDamaged =
      "the stored trust table is damaged: restart tinyprofd, which calibrates anew";
};

template <class Record>
class HostRecordStore {
 public:
  using Table = HostRecordTable<Record>;

  // `database` must outlive the store.
  explicit HostRecordStore(Database& database) : database_(database) {}

  // Keeps `record`, in place of an earlier one of that fingerprint.
  Status Put(std::string_view fingerprint, const Record& record) {
    const std::lock_guard lock(database_.mutex());
    TINYPROF_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database_));
    TINYPROF_ASSIGN_OR_RETURN(
        Statement forget,
        database_.Prepare(fmt::format("DELETE FROM {} WHERE fingerprint = ?1", Table::kTable)));
    TINYPROF_RETURN_IF_ERROR(forget.BindText(1, fingerprint).Run());
    TINYPROF_ASSIGN_OR_RETURN(
        Statement insert,
        database_.Prepare(fmt::format("INSERT INTO {} (fingerprint, {}) VALUES (?1, ?2)",
                                      Table::kTable, Table::kColumn)));
    insert.BindText(1, fingerprint).BindBlob(2, record.SerializeAsString());
    TINYPROF_RETURN_IF_ERROR(insert.Run());
    return transaction.Commit();
  }

  // The one of that fingerprint, or nothing. FAILED_PRECONDITION / "STORE_CORRUPT" when it cannot
  // be read any more.
  Result<std::optional<Record>> Newest(std::string_view fingerprint) {
    const std::lock_guard lock(database_.mutex());
    TINYPROF_ASSIGN_OR_RETURN(
        Statement query, database_.Prepare(fmt::format("SELECT {} FROM {} WHERE fingerprint = ?1 "
                                                       "ORDER BY sequence DESC LIMIT 1",
                                                       Table::kColumn, Table::kTable)));
    TINYPROF_ASSIGN_OR_RETURN(const bool found, query.BindText(1, fingerprint).Step());
    if (!found) return std::nullopt;
    Record record;
    if (!record.ParseFromString(query.Bytes(0))) {
      return Fail(ErrorCode::kFailedPrecondition, "STORE_CORRUPT", std::string(Table::kDamaged));
    }
    return record;
  }

 private:
  Database& database_;
};

using RooflineStore = HostRecordStore<v1::Roofline>;
using CounterReportStore = HostRecordStore<v1::CounterReport>;

}  // namespace tinyprof
