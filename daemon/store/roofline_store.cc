#include "daemon/store/roofline_store.h"

namespace tinyprof {

Status RooflineStore::Put(const v1::Roofline& roofline) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database_));
  // Only the newest of a fingerprint is ever asked for.
  TINYPROF_ASSIGN_OR_RETURN(Statement forget,
                            database_.Prepare("DELETE FROM rooflines WHERE fingerprint = ?1"));
  TINYPROF_RETURN_IF_ERROR(forget.BindText(1, roofline.host().fingerprint()).Run());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement insert,
      database_.Prepare("INSERT INTO rooflines (fingerprint, roofline) VALUES (?1, ?2)"));
  insert.BindText(1, roofline.host().fingerprint()).BindBlob(2, roofline.SerializeAsString());
  TINYPROF_RETURN_IF_ERROR(insert.Run());
  return transaction.Commit();
}

Result<std::optional<v1::Roofline>> RooflineStore::Newest(std::string_view fingerprint) {
  const std::lock_guard lock(database_.mutex());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement query, database_.Prepare("SELECT roofline FROM rooflines WHERE fingerprint = ?1 "
                                         "ORDER BY sequence DESC LIMIT 1"));
  TINYPROF_ASSIGN_OR_RETURN(const bool found, query.BindText(1, fingerprint).Step());
  if (!found) return std::nullopt;
  v1::Roofline roofline;
  if (!roofline.ParseFromString(query.Bytes(0))) {
    return Fail(ErrorCode::kFailedPrecondition, "STORE_CORRUPT",
                "the stored roofline is damaged: measure it anew");
  }
  return roofline;
}

}  // namespace tinyprof
