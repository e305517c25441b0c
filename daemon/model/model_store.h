// Uploaded ONNX models, one file each in a directory, kept over restarts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/worker/unique_fd.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct StoredModel {
  std::string name;
  std::string sha256;  // of the file, 64 hexadecimal digits
  int64_t byte_size = 0;
  int64_t created_time_ns = 0;  // since 1970, of the upload
};

// INVALID_ARGUMENT / "BAD_MODEL_NAME" unless `name` is 1 to 100 of A-Z a-z 0-9 . _ -, starts with a
// letter or digit, and is neither a zoo model nor a layer.
Status CheckModelName(std::string_view name);

// Thread-safe.
class ModelStore {
 public:
  // Receives one file in pieces and keeps it under a temporary name until Commit(). One thread.
  class Upload {
   public:
    Upload(Upload&&) noexcept = default;
    Upload& operator=(Upload&&) = delete;
    ~Upload();  // removes what was not committed
    // RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" beyond the store's limit.
    Status Append(std::string_view bytes);
    // Checks that the file can be read as ONNX, syncs it and gives it its name. ALREADY_EXISTS /
    // "MODEL_EXISTS" when the name has another content; the same content again is fine.
    Result<StoredModel> Commit();

   private:
    friend class ModelStore;
    Upload() = default;
    Result<StoredModel> Rename(StoredModel model);
    ModelStore* store_ = nullptr;
    std::string name_;
    std::string temporary_path_;
    UniqueFd fd_;
    int64_t byte_size_ = 0;
  };

  // Opens or makes `directory`, removing what unfinished uploads left.
  static Result<std::unique_ptr<ModelStore>> Open(const std::string& directory,
                                                  int64_t max_model_bytes);

  Result<Upload> Begin(std::string_view name);
  std::vector<StoredModel> List() const;  // by name
  // NOT_FOUND / "UNKNOWN_MODEL".
  Result<StoredModel> Get(std::string_view name) const;
  // The file, open for reading; it stays readable after Delete().
  Result<UniqueFd> OpenModel(std::string_view name) const;
  Status Delete(std::string_view name);

 private:
  ModelStore(std::string directory, int64_t max_model_bytes)
      : directory_(std::move(directory)), max_model_bytes_(max_model_bytes) {}
  std::string PathOf(std::string_view name) const;
  Status Load();

  std::string directory_;
  int64_t max_model_bytes_;
  mutable std::mutex mutex_;
  std::vector<StoredModel> models_;  // by name
  int64_t next_temporary_ = 0;
};

}  // namespace tinyprof
