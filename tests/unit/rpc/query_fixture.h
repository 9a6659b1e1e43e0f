// A client's queries, as the command line asks them, of a daemon that is
// played.

#ifndef NANWATCH_TESTS_UNIT_RPC_QUERY_FIXTURE_H_
#define NANWATCH_TESTS_UNIT_RPC_QUERY_FIXTURE_H_

#include <gmock/gmock.h>
#include <pwd.h>
#include <unistd.h>

#include <string>

#include "rpc/query_client.h"
#include "tests/unit/rpc/fake_daemon.h"

namespace nanwatch {

inline RunView View(const std::string& run_id, int64_t last_step) {
  RunView run;
  run.key = {run_id, 0};
  run.last_step = last_step;
  return run;
}

inline std::string OwnAccount() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : "uid " + std::to_string(geteuid());
}

class QueryFixture : public testing::Test {
 protected:
  void SetUp() override { daemon_.Start(); }

  FakeDaemon daemon_;
  QueryClient client_{daemon_.address()};
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_RPC_QUERY_FIXTURE_H_
