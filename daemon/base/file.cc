#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace nanwatch {

namespace {

// Whether `path` is still the file that was opened: the one who held the lock
// before may have removed it meanwhile.
bool IsStill(const std::string& path, int fd) {
  struct stat opened;
  struct stat named;
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(fd) == 0;
}

void SyncFolder(const std::string& path) {
  const int fd =
      ::open(ParentDirectory(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<std::optional<FileLock>> FileLock::Take(const std::string& path) {
  while (true) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return std::optional<FileLock>();
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
      if (IsStill(path, fd)) return std::optional<FileLock>(FileLock(path, fd));
      ::close(fd);
      continue;
    }
    const int reason = errno;
    ::close(fd);
    if (reason != EWOULDBLOCK) return std::optional<FileLock>();
    return Error{path + " is locked by another process: stop it, or choose " +
                 "another file"};
  }
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());
  ::close(fd_);
}

bool FileExists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool IsDirectory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string ParentDirectory(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

uint64_t FileBytes(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

bool IsFile(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string ReadHead(const std::string& path, size_t bytes) {
  std::string head;
  if (!IsFile(path)) return head;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return head;
  head.resize(bytes);
  head.resize(std::fread(head.data(), 1, bytes, file));
  std::fclose(file);
  return head;
}

Status RenameFile(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return OkStatus();
  return Error{"cannot rename " + from + " to " + to + ": " +
               std::strerror(errno)};
}

Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  const int fd =
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && WriteAll(fd, bytes);
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!written) return Error{fresh + ": " + std::strerror(error)};
  if (Status renamed = RenameFile(fresh, path); !renamed) return renamed;
  SyncFolder(path);
  return OkStatus();
}

}  // namespace nanwatch
