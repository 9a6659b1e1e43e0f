#include "client_lib/src/socket_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace nanwatch_client {

std::string PrivateAddress(uid_t user) {
  return "unix:/tmp/nanwatch-" + std::to_string(user) + "/ingest.sock";
}

bool IsOwnFolder(const std::string& path, uid_t user) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == user && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string WhyNotThere(const std::string& address) {
  if (!address.starts_with("unix:/")) return {};
  const std::string path = address.substr(5);
  if (access(path.c_str(), F_OK) != 0) {
    return errno == EACCES ? "this user may not enter the folder of the socket"
                           : "there is no such socket; is nanwatchd running?";
  }
  const uid_t user = getuid();
  if (address == PrivateAddress(user) &&
      !IsOwnFolder(path.substr(0, path.rfind('/')), user)) {
    return "its folder is not this user's own, so it is not believed";
  }
  return {};
}

}  // namespace nanwatch_client
