#include "base/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nanwatch {
namespace {

bool AnybodyMayMakeOneIn(const std::string& folder) {
  struct stat found = {};
  return stat(folder.c_str(), &found) == 0 && (found.st_mode & S_IWOTH) != 0;
}

// Root's are as good as ours.
bool IsOurs(const struct stat& found) {
  return found.st_uid == geteuid() || found.st_uid == 0;
}

Status CheckMaker(const std::string& folder, const std::string& parent,
                  const struct stat& found) {
  if (!AnybodyMayMakeOneIn(parent)) return OkStatus();
  if (S_ISLNK(found.st_mode)) {
    // Followed only where nobody else could have laid it.
    if (IsOurs(found)) return OkStatus();
    return Error{folder + " is a link that user " +
                 std::to_string(found.st_uid) +
                 " made: remove it, or choose another folder"};
  }
  if (IsOurs(found)) return OkStatus();
  return Error{folder + " belongs to user " + std::to_string(found.st_uid) +
               ", who could read and replace what lies in it: remove it, or "
               "choose another folder"};
}

Status MakeOne(const std::string& folder, const std::string& parent,
               mode_t mode) {
  struct stat found = {};
  if (lstat(folder.c_str(), &found) == 0) {
    return CheckMaker(folder, parent, found);
  }
  if (mkdir(folder.c_str(), 0700) != 0) {
    // Somebody may have been faster.
    if (errno == EEXIST && lstat(folder.c_str(), &found) == 0) {
      return CheckMaker(folder, parent, found);
    }
    return Error{"cannot make the directory " + folder + ": " +
                 std::strerror(errno)};
  }
  if (mode != 0700 && chmod(folder.c_str(), mode) != 0) {
    return Error{"cannot set the mode of " + folder + ": " +
                 std::strerror(errno)};
  }
  return OkStatus();
}

}  // namespace

Status MakeFolder(const std::string& path, mode_t mode) {
  size_t end = 0;
  std::string parent = path.starts_with('/') ? "/" : ".";
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string folder = path.substr(0, end);
    if (folder == "/" || folder == ".") continue;
    const bool last = path.find_first_not_of('/', end) == std::string::npos;
    if (Status made = MakeOne(folder, parent, last ? mode : 0700); !made) {
      return made;
    }
    parent = folder;
    if (last) break;
  }
  return OkStatus();
}

}  // namespace nanwatch
