#include "config/addresses.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace nanwatch {
namespace {

constexpr char kSystemSocket[] = "/run/nanwatch/ingest.sock";
constexpr char kHistoryFile[] = "/history.db";

std::string PrivateFolder(uid_t user) {
  return "/tmp/nanwatch-" + std::to_string(user);
}

// A folder that may not be entered is no reason to look elsewhere: who uses
// the address is then told of the permission.
bool MayBeThere(const char* path) {
  return access(path, F_OK) == 0 || errno == EACCES;
}

// In /tmp anybody may make a folder of that name.
bool IsOwnFolder(const std::string& path, uid_t user) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == user && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Whether a command finds it of use to look there.
bool MayBeUsed(const std::string& address, uid_t user) {
  const std::string path = address.substr(address.find('/'));
  const std::string folder = path.substr(0, path.rfind('/'));
  return MayBeThere(path.c_str()) &&
         (folder != PrivateFolder(user) || IsOwnFolder(folder, user));
}

// systemd lists several folders with colons between; ours is the first.
std::string FirstFolder(const std::string& list) {
  return list.substr(0, list.find(':'));
}

}  // namespace

Environment ProcessEnvironment() {
  return [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

std::string DefaultSocketPath(const Environment& environment, uid_t user) {
  if (const auto unit = environment("RUNTIME_DIRECTORY"); !unit.empty()) {
    return FirstFolder(unit) + "/ingest.sock";
  }
  if (user == 0) return kSystemSocket;
  if (const auto own = environment("XDG_RUNTIME_DIR"); !own.empty()) {
    return own + "/nanwatch/ingest.sock";
  }
  return PrivateFolder(user) + "/ingest.sock";
}

std::string DefaultHistoryPath(const Environment& environment, uid_t user) {
  if (const auto unit = environment("STATE_DIRECTORY"); !unit.empty()) {
    return FirstFolder(unit) + kHistoryFile;
  }
  if (user == 0) return std::string("/var/lib/nanwatch") + kHistoryFile;
  if (const auto state = environment("XDG_STATE_HOME"); !state.empty()) {
    return state + "/nanwatch" + kHistoryFile;
  }
  if (const auto home = environment("HOME"); !home.empty()) {
    return home + "/.local/state/nanwatch" + kHistoryFile;
  }
  return PrivateFolder(user) + kHistoryFile;
}

std::string DaemonAddress(const std::string& said) {
  return said.starts_with('/') ? "unix:" + said : said;
}

std::vector<std::string> DaemonAddresses(const Environment& environment,
                                         uid_t user) {
  if (const auto said = environment("NANWATCH_ADDRESS"); !said.empty()) {
    return {DaemonAddress(said)};
  }
  std::vector<std::string> addresses;
  if (const auto own = environment("XDG_RUNTIME_DIR"); !own.empty()) {
    addresses.push_back("unix:" + own + "/nanwatch/ingest.sock");
  }
  // Root's daemon is the machine's.
  if (user != 0) {
    addresses.push_back("unix:" + PrivateFolder(user) + "/ingest.sock");
  }
  addresses.push_back(std::string("unix:") + kSystemSocket);
  return addresses;
}

std::string FindDaemon() {
  const uid_t user = getuid();
  const std::vector<std::string> addresses =
      DaemonAddresses(ProcessEnvironment(), user);
  if (addresses.size() == 1) return addresses.front();
  for (const std::string& address : addresses) {
    if (MayBeUsed(address, user)) return address;
  }
  // Not the one in /tmp: somebody else may have made its folder.
  const std::string own = "unix:" + PrivateFolder(user) + "/";
  return addresses.front().starts_with(own) ? addresses.back()
                                            : addresses.front();
}

}  // namespace nanwatch
