#include "rpc/account.h"

#include <grp.h>
#include <pwd.h>

namespace nanwatch {
namespace {

// Of the text fields of one entry; that of a group names its members. Ours.
constexpr size_t kAccountBytes = 1 << 14;
constexpr size_t kGroupBytes = 1 << 16;
// NGROUPS_MAX of Linux.
constexpr int kGroupsMost = 65536;

// Its texts stand in `buffer`.
const passwd* Find(uid_t uid, passwd* entry, std::vector<char>* buffer) {
  buffer->resize(kAccountBytes);
  passwd* found = nullptr;
  getpwuid_r(uid, entry, buffer->data(), buffer->size(), &found);
  return found;
}

}  // namespace

std::optional<std::string> AccountName(uid_t uid) {
  passwd entry{};
  std::vector<char> buffer;
  if (Find(uid, &entry, &buffer) == nullptr) return std::nullopt;
  return entry.pw_name;
}

std::vector<gid_t> AccountGroups(uid_t uid) {
  passwd entry{};
  std::vector<char> buffer;
  if (Find(uid, &entry, &buffer) == nullptr) return {};
  std::vector<gid_t> groups(64);
  for (int tries = 0; tries < 2; ++tries) {
    int count = static_cast<int>(groups.size());
    const int rc =
        getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count);
    if (count < 0 || count > kGroupsMost) break;
    groups.resize(static_cast<size_t>(count));  // how many there are
    if (rc >= 0) return groups;
  }
  return {entry.pw_gid};
}

std::optional<gid_t> GroupNumber(const std::string& name) {
  std::vector<char> buffer(kGroupBytes);
  group entry{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->gr_gid;
}

}  // namespace nanwatch
