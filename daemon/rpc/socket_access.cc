#include "rpc/socket_access.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

namespace nanwatch {
namespace {

// "unix:/path" and "unix:///path"; empty: another kind of address.
std::string PathOf(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  if (!address.starts_with(kUnix)) return "";
  const std::string path = address.substr(kUnix.size());
  return path.starts_with("///") ? path.substr(2) : path;
}

std::string GroupName(gid_t gid) {
  std::vector<char> buffer(1 << 14);
  group entry{};
  group* found = nullptr;
  getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? fmt::format("{}", gid) : found->gr_name;
}

std::string UserName() {
  std::vector<char> buffer(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? "USER" : found->pw_name;
}

std::string ForbiddenFolder(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0) continue;
    return fmt::format(
        "permission denied: the folder {} of the daemon's socket {} may not be "
        "entered by {}; ask who runs the daemon for another place "
        "(ingest.socket), or be that user",
        folder, path, UserName());
  }
  return "";
}

}  // namespace

std::string WhyForbidden(const std::string& address) {
  const std::string path = PathOf(address);
  if (path.empty()) return "";
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    return errno == EACCES ? ForbiddenFolder(path) : "";
  }
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0) return "";
  if (errno != EACCES) return "";
  const std::string group = GroupName(found.st_gid);
  // Nobody should become root for it, and a group that may not helps nobody.
  const bool join = found.st_gid != 0 && (found.st_mode & S_IWGRP) != 0;
  const std::string joining =
      join ? fmt::format(
                 "join the group (`sudo usermod -aG {} {}`, then log in "
                 "again), or ",
                 group, UserName())
           : "";
  return fmt::format(
      "permission denied: the daemon's socket {} has mode {:04o} and group {}, "
      "and {} may not write to it; {}set ingest.socket_mode and "
      "ingest.socket_group in the daemon's configuration",
      path, found.st_mode & 07777, group, UserName(), joining);
}

}  // namespace nanwatch
