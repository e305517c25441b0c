// Uploaded ONNX models, one file each in a directory, kept over restarts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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

class ModelStore;

// Receives one file in pieces and keeps it under a temporary name until Commit(). Used by one
// thread, not longer than its store lives.
class ModelUpload {
 public:
  ModelUpload(ModelUpload&& other) noexcept;
  ModelUpload& operator=(ModelUpload&&) = delete;
  ~ModelUpload();  // removes what was not committed

  // RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" beyond the store's limit, "DISK_FULL" when it is.
  Status Append(std::string_view bytes);
  // Checks the file, syncs it and gives it its name. The errors of the store's check;
  // ALREADY_EXISTS / "MODEL_EXISTS" when the name has another content; the same content again is
  // fine.
  Result<StoredModel> Commit();

 private:
  friend class ModelStore;
  ModelUpload(ModelStore* store, std::string name, std::string path, int fd)
      : store_(store), name_(std::move(name)), temporary_path_(std::move(path)), fd_(fd) {}
  Status CheckFile() const;

  ModelStore* store_;
  std::string name_;
  std::string temporary_path_;  // empty once there is nothing to remove
  int fd_;
  int64_t byte_size_ = 0;
};

// Whether the file open at `fd` may be kept; thread-safe.
using ModelCheck = std::function<Status(int fd)>;

// Thread-safe.
class ModelStore {
 public:
  // Opens or makes `directory`, removing what unfinished uploads left. FAILED_PRECONDITION /
  // "BAD_MODEL_DIRECTORY". What is in the directory was checked when it came.
  static Result<std::unique_ptr<ModelStore>> Open(const std::string& directory,
                                                  int64_t max_model_bytes, ModelCheck check);

  Result<ModelUpload> Begin(std::string_view name);
  std::vector<StoredModel> List() const;  // by name
  // NOT_FOUND / "UNKNOWN_MODEL".
  Result<StoredModel> Get(std::string_view name) const;
  // A descriptor of the file, open for reading, which the caller closes. It stays readable after
  // Delete().
  Result<int> OpenModel(std::string_view name) const;
  Status Delete(std::string_view name);

 private:
  friend class ModelUpload;
  ModelStore(std::string directory, int64_t max_model_bytes, ModelCheck check)
      : directory_(std::move(directory)),
        max_model_bytes_(max_model_bytes),
        check_(std::move(check)) {}

  std::string PathOf(std::string_view name) const;
  Status Load();
  // Gives the file at `temporary_path` the model's name, unless that is taken.
  Result<StoredModel> Adopt(const std::string& temporary_path, StoredModel model);
  Status SyncDirectory() const;
  std::vector<StoredModel>::const_iterator Find(std::string_view name) const;

  const std::string directory_;
  const int64_t max_model_bytes_;
  const ModelCheck check_;
  mutable std::mutex mutex_;
  std::vector<StoredModel> models_;  // by name
  int64_t next_temporary_ = 0;
};

}  // namespace tinyprof
