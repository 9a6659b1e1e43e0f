#include "relay/state.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "wire/session_name.h"

namespace nanwatch {
namespace {

std::string Path(const std::string& name) {
  return testing::TempDir() + "relay_state_" + std::to_string(getpid()) + name;
}

TEST(RelayStateTest, IsReadAsItWasWritten) {
  const std::string path = Path("a");
  v1::RelayState state = ReadRelayState(path);
  EXPECT_EQ(state.through(), 0u);
  EXPECT_NE(state.key(), ReadRelayState(path).key());  // nothing was written
  state.set_through(42);
  state.add_sessions()->mutable_open()->mutable_run()->set_run_id("job");
  ASSERT_TRUE(WriteRelayState(path, state).ok());
  EXPECT_EQ(ReadRelayState(path).SerializeAsString(),
            state.SerializeAsString());
  unlink(path.c_str());
}

TEST(RelayStateTest, DamageIsANewBeginning) {
  const std::string path = Path("b");
  std::ofstream(path) << "no state";
  const v1::RelayState state = ReadRelayState(path);
  EXPECT_EQ(state.through(), 0u);
  EXPECT_EQ(state.key().size(), 32u);
  unlink(path.c_str());
}

TEST(RelayStateTest, IdsUpstreamFollowFromTheKeyAlone) {
  const std::string key(32, 'k');
  EXPECT_EQ(UpstreamId(key, 7), UpstreamId(key, 7));
  EXPECT_NE(UpstreamId(key, 7), UpstreamId(key, 8));
  EXPECT_NE(UpstreamId(key, 7), UpstreamId(std::string(32, 'l'), 7));
  // Who reads an export has the name: it opens nothing.
  EXPECT_NE(UpstreamId(key, 7), SessionName(7));
}

}  // namespace
}  // namespace nanwatch
