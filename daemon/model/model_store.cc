#include "daemon/model/model_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "daemon/model/sha256.h"
#include "kernels/base/words.h"
#include "kernels/zoo/model_spec.h"
#include "kernels/zoo/zoo.h"

namespace tinyprof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".onnx";
constexpr std::string_view kTemporaryPrefix = ".upload-";
constexpr size_t kMaxNameLength = 100;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

tl::unexpected<Error> BadName(std::string_view name, std::string_view why) {
  const std::string shown(name.substr(0, kMaxNameLength));
  return Fail(ErrorCode::kInvalidArgument, "BAD_MODEL_NAME",
              fmt::format("'{}' cannot name a model: {}", shown, why), {{"name", shown}});
}

tl::unexpected<Error> UnknownModel(std::string_view name) {
  const std::string shown(name.substr(0, kMaxNameLength));
  return Fail(ErrorCode::kNotFound, "UNKNOWN_MODEL",
              fmt::format("there is no uploaded model '{}'", shown), {{"model", shown}});
}

tl::unexpected<Error> DiskError(std::string_view what) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  return Fail(full ? ErrorCode::kResourceExhausted : ErrorCode::kInternal,
              full ? "DISK_FULL" : "DISK_ERROR",
              fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

Result<StoredModel> Describe(std::string name, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return DiskError("read the size of a model");
  TINYPROF_ASSIGN_OR_RETURN(std::string sha256, Sha256OfFd(fd));
  return StoredModel{std::move(name), std::move(sha256), static_cast<int64_t>(info.st_size),
                     int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

}  // namespace

Status CheckModelName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength) {
    return BadName(
        name, fmt::format("it has {}, wanted 1 to {}",
                          Counted(static_cast<int64_t>(name.size()), "character"), kMaxNameLength));
  }
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-';
  });
  if (!plain) return BadName(name, "wanted letters, digits, '.', '_' and '-' only");
  if (!IsAlphanumeric(name[0])) return BadName(name, "wanted a letter or digit in front");
  if (FindZooEntry(name) != nullptr) return BadName(name, "it is the name of a built-in model");
  if (IsLayerList(name)) return BadName(name, "it is the name of a layer");
  return {};
}

ModelUpload::ModelUpload(ModelUpload&& other) noexcept
    : store_(other.store_),
      name_(std::move(other.name_)),
      temporary_path_(std::exchange(other.temporary_path_, {})),
      fd_(std::exchange(other.fd_, -1)),
      byte_size_(other.byte_size_) {}

ModelUpload::~ModelUpload() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

Status ModelUpload::Append(std::string_view bytes) {
  const auto added = static_cast<int64_t>(bytes.size());
  if (added > store_->max_model_bytes_ - byte_size_) {
    return Fail(ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
                fmt::format("the model is larger than the {} that tinyprofd's upload_limit allows",
                            SizeText(store_->max_model_bytes_)),
                {{"max_model_bytes", std::to_string(store_->max_model_bytes_)}});
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return DiskError("write the model");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  byte_size_ += added;
  return {};
}

Status ModelUpload::CheckFile() const {
  // Whoever looks into the file cannot change it.
  const int fd = ::open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return DiskError("open the model");
  const Status checked = store_->check_(fd);
  ::close(fd);
  return checked;
}

Result<StoredModel> ModelUpload::Commit() {
  TINYPROF_RETURN_IF_ERROR(CheckFile());
  if (::fsync(fd_) != 0) return DiskError("write the model to the disk");
  TINYPROF_ASSIGN_OR_RETURN(StoredModel model, Describe(name_, fd_));
  TINYPROF_ASSIGN_OR_RETURN(StoredModel stored, store_->Adopt(temporary_path_, std::move(model)));
  temporary_path_.clear();
  return stored;
}

Result<std::unique_ptr<ModelStore>> ModelStore::Open(const std::string& directory,
                                                     int64_t max_model_bytes, ModelCheck check) {
  std::unique_ptr<ModelStore> store(new ModelStore(directory, max_model_bytes, std::move(check)));
  TINYPROF_RETURN_IF_ERROR(store->Load());
  return store;
}

Status ModelStore::Load() {
  const auto bad_directory = [this](const std::error_code& error) {
    return Fail(ErrorCode::kFailedPrecondition, "BAD_MODEL_DIRECTORY",
                fmt::format("cannot use {} for models: {}", directory_, error.message()),
                {{"directory", directory_}});
  };
  std::error_code error;
  fs::create_directories(directory_, error);
  fs::directory_iterator entries(directory_, error);
  if (error) return bad_directory(error);
  std::vector<std::string> files;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) return bad_directory(error);
    files.push_back(entries->path().filename().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const std::string path = fmt::format("{}/{}", directory_, file);
    if (file.starts_with(kTemporaryPrefix)) ::unlink(path.c_str());
    if (!file.ends_with(kSuffix)) continue;
    const std::string name = file.substr(0, file.size() - kSuffix.size());
    if (!CheckModelName(name)) continue;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    Result<StoredModel> model = Describe(name, fd);
    ::close(fd);
    TINYPROF_ASSIGN_OR_RETURN(StoredModel described, std::move(model));
    models_.push_back(std::move(described));
  }
  std::sort(models_.begin(), models_.end(),
            [](const StoredModel& a, const StoredModel& b) { return a.name < b.name; });
  return {};
}

Result<ModelUpload> ModelStore::Begin(std::string_view name) {
  TINYPROF_RETURN_IF_ERROR(CheckModelName(name));
  const std::lock_guard lock(mutex_);
  const std::string path = fmt::format("{}/{}{}", directory_, kTemporaryPrefix, next_temporary_++);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return DiskError("start an upload");
  return ModelUpload(this, std::string(name), path, fd);
}

Result<StoredModel> ModelStore::Adopt(const std::string& temporary_path, StoredModel model) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(model.name);
  if (found != models_.end()) {
    if (found->sha256 == model.sha256) {
      ::unlink(temporary_path.c_str());
      return *found;
    }
    return Fail(ErrorCode::kAlreadyExists, "MODEL_EXISTS",
                fmt::format("another model is stored as '{}': delete it or choose another name",
                            model.name),
                {{"model", model.name}});
  }
  if (::rename(temporary_path.c_str(), PathOf(model.name).c_str()) != 0) {
    return DiskError("name the model");
  }
  const auto place =
      std::lower_bound(models_.begin(), models_.end(), model.name,
                       [](const StoredModel& a, const std::string& b) { return a.name < b; });
  models_.insert(place, model);
  TINYPROF_RETURN_IF_ERROR(SyncDirectory());
  return model;
}

Status ModelStore::SyncDirectory() const {
  const int fd = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return DiskError("open the directory of models");
  const int result = ::fsync(fd);
  ::close(fd);
  if (result != 0) return DiskError("write the directory of models to the disk");
  return {};
}

std::string ModelStore::PathOf(std::string_view name) const {
  return fmt::format("{}/{}{}", directory_, name, kSuffix);
}

std::vector<StoredModel>::const_iterator ModelStore::Find(std::string_view name) const {
  return std::find_if(models_.begin(), models_.end(),
                      [&](const StoredModel& model) { return model.name == name; });
}

std::vector<StoredModel> ModelStore::List() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

Result<StoredModel> ModelStore::Get(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == models_.end()) return UnknownModel(name);
  return *found;
}

Result<int> ModelStore::OpenModel(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (Find(name) == models_.end()) return UnknownModel(name);
  const int fd = ::open(PathOf(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return DiskError("open the model");
  return fd;
}

Status ModelStore::Delete(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == models_.end()) return UnknownModel(name);
  if (::unlink(PathOf(name).c_str()) != 0 && errno != ENOENT) return DiskError("delete the model");
  models_.erase(found);
  return SyncDirectory();
}

}  // namespace tinyprof
