#include "config/addresses.h"

#include <unistd.h>

#include <cstdlib>

namespace nanwatch {
namespace {

constexpr char kSystemSocket[] = "/run/nanwatch/ingest.sock";
constexpr char kHistoryFile[] = "/history.db";

std::string PrivateFolder(uid_t user) {
  return "/tmp/nanwatch-" + std::to_string(user);
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

std::string FindDaemon() {
  const Environment environment = ProcessEnvironment();
  if (const auto said = environment("NANWATCH_ADDRESS"); !said.empty()) {
    return said.front() == '/' ? "unix:" + said : said;
  }
  const std::string own = DefaultSocketPath(environment, getuid());
  const bool own_exists = access(own.c_str(), F_OK) == 0;
  if (!own_exists && access(kSystemSocket, F_OK) == 0) {
    return std::string("unix:") + kSystemSocket;
  }
  return "unix:" + own;
}

}  // namespace nanwatch
