#include "rpc/socket_access.h"

#include <fcntl.h>
#include <grp.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "rpc/account.h"

namespace nanwatch {
namespace {

std::string GroupName(gid_t gid) {
  std::vector<char> buffer(1 << 14);
  group entry{};
  group* found = nullptr;
  getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? fmt::format("{}", gid) : found->gr_name;
}

std::string UserName() { return AccountName(geteuid()).value_or("USER"); }

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

std::string_view SocketPath(std::string_view address) {
  constexpr std::string_view kScheme = "unix:";
  if (!address.starts_with(kScheme)) return {};
  address.remove_prefix(kScheme.size());
  if (address.starts_with("//")) address.remove_prefix(2);
  return address;
}

std::string WhyForbidden(const std::string& address) {
  const std::string path(SocketPath(address));
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
