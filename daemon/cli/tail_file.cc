#include "cli/tail_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nanwatch {
namespace {

// By so many bytes a file is known again: two steps' lines differ in less.
constexpr size_t kKnownBy = 256;

}  // namespace

FollowedFile::FollowedFile(std::string path, bool from_start)
    : path_(std::move(path)) {
  waited_ = !Open() && errno == ENOENT;
  if (file_ >= 0 && !from_start) {
    read_ = std::max<off_t>(0, lseek(file_, 0, SEEK_END));
    fresh_ = read_ == 0;
  }
}

FollowedFile::~FollowedFile() {
  if (file_ >= 0) close(file_);
}

FollowedFile::FollowedFile(FollowedFile&& other) noexcept
    : path_(other.path_),
      file_(std::exchange(other.file_, -1)),
      waited_(other.waited_),
      fresh_(other.fresh_),
      drained_(other.drained_),
      read_(other.read_),
      last_(std::move(other.last_)),
      error_(std::move(other.error_)),
      piece_(std::move(other.piece_)) {}

bool FollowedFile::Open() {
  file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) return false;
  read_ = 0;
  last_.clear();
  fresh_ = true;
  drained_ = false;
  return true;
}

FollowedFile::Piece FollowedFile::Fail() {
  if (errno != ESTALE) return Deny(std::strerror(errno));
  // A network's file that another machine replaced.
  close(std::exchange(file_, -1));
  return {{}, News::kReplaced};
}

FollowedFile::Piece FollowedFile::Deny(const char* what) {
  std::string error = fmt::format("{}: {}", path_, what);
  if (error == error_) return {};
  error_ = std::move(error);
  return {{}, News::kDenied};
}

// What was read is not what stands there.
bool FollowedFile::Changed(off_t size) const {
  if (size < read_) return true;
  char now[kKnownBy];
  const ssize_t got =
      pread(file_, now, last_.size(), read_ - static_cast<off_t>(last_.size()));
  return got >= 0 && std::string_view(now, static_cast<size_t>(got)) != last_;
}

// kNone: the name still means the file that is read, or none.
FollowedFile::News FollowedFile::Replace() {
  struct stat named;
  struct stat held;
  if (stat(path_.c_str(), &named) != 0 || fstat(file_, &held) != 0 ||
      (named.st_ino == held.st_ino && named.st_dev == held.st_dev)) {
    drained_ = false;
    return News::kNone;
  }
  // Its writer may not have opened the new one yet.
  if (!std::exchange(drained_, true)) return News::kNone;
  const int old = file_;
  if (!Open()) {
    file_ = old;
    return News::kNone;
  }
  close(old);
  return News::kReplaced;
}

FollowedFile::Piece FollowedFile::Read(size_t most) {
  News news = News::kNone;
  if (file_ < 0) {
    if (!Open()) return errno == ENOENT ? Piece() : Deny(std::strerror(errno));
    if (waited_) news = News::kAppeared;
  }
  struct stat held;
  if (fstat(file_, &held) != 0) return Fail();
  if (S_ISDIR(held.st_mode)) return Deny("it is a folder");
  if (held.st_size != read_ || !last_.empty()) {
    if (Changed(held.st_size)) {
      read_ = 0;
      last_.clear();
      fresh_ = true;
      news = News::kCut;
    }
  }
  piece_.resize(most);
  std::string_view bytes;
  do {
    const ssize_t got = pread(file_, piece_.data(), most, read_);
    if (got < 0) return Fail();
    if (got == 0) {
      if (news == News::kNone) news = Replace();
      return {{}, news};
    }
    bytes = {piece_.data(), static_cast<size_t>(got)};
    read_ += got;
    drained_ = false;
    // The hole that a program leaves which goes on at its old place in a file
    // that was cut.
    if (fresh_) {
      bytes.remove_prefix(
          std::min(bytes.find_first_not_of('\0'), bytes.size()));
    }
  } while (bytes.empty());
  fresh_ = false;
  last_ += bytes.substr(bytes.size() - std::min(bytes.size(), kKnownBy));
  if (last_.size() > kKnownBy) last_.erase(0, last_.size() - kKnownBy);
  return {bytes, news};
}

}  // namespace nanwatch
