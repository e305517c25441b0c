// A folder of files that stands for a machine's /proc and /sys; gone with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tinyprof {

class FileTree {
 public:
  FileTree() {
    std::string name = (std::filesystem::temp_directory_path() / "tinyprof_tree_XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~FileTree() { std::filesystem::remove_all(root_); }
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;

  std::string root() const { return root_.string(); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  // A symbolic link, which may lead nowhere, as those of /proc/PID/fd do.
  void Link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(target, root_ / path);
  }
  void Remove(const std::string& path) { std::filesystem::remove_all(root_ / path); }

 private:
  std::filesystem::path root_;
};

}  // namespace tinyprof
