#include "history/file_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "history/schema.h"

namespace nanwatch {

FileWatch::FileWatch(std::string path) : path_(std::move(path)) {
  (void)Look();
}

std::string FileWatch::Look() {
  for (Part& part : parts_) {
    if (std::string what = LookAt(&part); !what.empty()) return what;
  }
  return "";
}

bool FileWatch::LogWasRemoved() const {
  struct stat info;
  return ::stat(path_.c_str(), &info) == 0 && info.st_ino == parts_[0].file &&
         info.st_dev == parts_[0].device &&
         ::stat((path_ + parts_[1].suffix).c_str(), &info) != 0;
}

std::string FileWatch::LookAt(Part* part) const {
  const std::string name = path_ + part->suffix;
  struct stat info;
  if (::stat(name.c_str(), &info) != 0) {
    if (part->file == 0) return "";
    return name + " was removed while nanwatchd wrote to it";
  }
  if (part->file == 0) {
    part->device = info.st_dev;
    part->file = info.st_ino;
  }
  if (part->file != info.st_ino || part->device != info.st_dev) {
    return name + " was replaced while nanwatchd wrote to it";
  }
  const uint64_t bytes = info.st_size;
  // SQLite itself cuts nothing but a log that was larger than this.
  if (bytes < std::min<uint64_t>(part->bytes, kLogKeptBytes)) {
    return name + " was cut while nanwatchd wrote to it";
  }
  part->bytes = bytes;
  return "";
}

}  // namespace nanwatch
