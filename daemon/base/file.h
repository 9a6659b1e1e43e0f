// Files as the daemon needs them: a lock that dies with its process, and names
// under which something is set aside.

#ifndef NANWATCH_BASE_FILE_H_
#define NANWATCH_BASE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace nanwatch {

// Holds an exclusive lock on a file as long as it lives, and removes the file
// then. Released by the system when the process dies, however it dies.
class FileLock {
 public:
  // Creates `path` if need be. nullopt: the file cannot be created or opened
  // (read-only directory). An error: another process holds the lock.
  static Result<std::optional<FileLock>> Take(const std::string& path);
  FileLock(FileLock&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  FileLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_ = -1;
};

bool FileExists(const std::string& path);
// A file of bytes, also behind links: no pipe, folder or device.
bool IsFile(const std::string& path);
bool IsDirectory(const std::string& path);
// The directory that `path` lies in; "." for a bare name.
std::string ParentDirectory(const std::string& path);
// 0 when there is no such file.
uint64_t FileBytes(const std::string& path);
// The first `bytes` bytes, or fewer if the file is shorter. Empty: it is no
// file (a pipe might be waited for without end), or unreadable.
std::string ReadHead(const std::string& path, size_t bytes);
Status RenameFile(const std::string& from, const std::string& to);
// The file at `path` holds `bytes` when this returns, on disk, for its owner
// alone; after a crash it holds them or what it held before.
Status ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace nanwatch

#endif  // NANWATCH_BASE_FILE_H_
