#include <limits>

#include "config/sections.h"

namespace nanwatch {
namespace {

void ReadQuota(YamlSection* section, const std::string& key, size_t* value) {
  auto number = static_cast<int64_t>(*value);
  section->Whole(key, 1, std::numeric_limits<int32_t>::max(), &number);
  *value = static_cast<size_t>(number);
}

void ReadSize(YamlSection* section, const std::string& key, uint64_t least,
              uint64_t* value) {
  section->Size(key, least, 1ull << 40, "", value);
}

void ReadKeys(YamlSection* section, Quotas* quotas) {
  ReadQuota(section, "runs", &quotas->runs);
  ReadQuota(section, "sessions", &quotas->sessions);
  ReadQuota(section, "connections", &quotas->connections);
  ReadQuota(section, "streams", &quotas->streams);
  ReadQuota(section, "queries", &quotas->queries);
  uint64_t bytes = quotas->op_bytes;
  ReadSize(section, "op_bytes", 1 << 10, &bytes);
  quotas->op_bytes = bytes;
  bytes = quotas->run_bytes;
  ReadSize(section, "run_bytes", 1 << 10, &bytes);
  quotas->run_bytes = bytes;
  bytes = static_cast<uint64_t>(quotas->bytes_per_second);
  // Beneath, one message would be paid for over minutes.
  ReadSize(section, "bytes_per_second", 64 << 10, &bytes);
  quotas->bytes_per_second = static_cast<int64_t>(bytes);
}

}  // namespace

void ReadQuotas(YamlSection section, UserQuotas* quotas) {
  ReadKeys(&section, &quotas->each);
  YamlSection users = section.Section("users");
  for (const std::string& name : users.Keys()) {
    YamlSection user = users.Section(name);
    Quotas& of_user = quotas->users[name] = quotas->each;
    ReadKeys(&user, &of_user);
    user.Finish();
  }
  users.Finish();
  section.Finish();
}

}  // namespace nanwatch
