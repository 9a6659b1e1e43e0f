#include "wire/session_name.h"

#include <gmock/gmock.h>

#include <string>

#include "nanwatch/v1/history.pb.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

constexpr SessionId kSecret = 0x1122334455667788;

TEST(SessionNameTest, IsAHash) {
  // Of the id's bytes, the lowest first, by another SHA-256.
  EXPECT_EQ(SessionName(kSecret), 0xb70f47222d564d80u);
  EXPECT_NE(SessionName(kSecret), kSecret);
  EXPECT_NE(SessionName(kSecret), SessionName(kSecret + 1));
  EXPECT_EQ(SessionName(0), 0u);
}

TEST(SessionNameTest, IsWhatIsKeptAndTheIdIsNot) {
  Event event;
  event.run = {"job", 1};
  event.session = SessionName(kSecret);
  event.body = RankLost{"gone"};
  std::string bytes;
  EncodeEvent(event, &bytes);
  v1::StoredEvent stored;
  ASSERT_TRUE(stored.ParseFromString(bytes));
  EXPECT_EQ(stored.session(), 0u);
  EXPECT_EQ(stored.session_name(), event.session);
  EXPECT_EQ(DecodeEvent(bytes)->session, event.session);
}

TEST(SessionNameTest, OfAnOldHistoryIsMadeWhenItIsRead) {
  v1::StoredEvent old;
  old.set_run_id("job");
  old.set_session(kSecret);
  old.mutable_rank_lost()->set_reason("gone");
  const Result<Event> read = DecodeEvent(old.SerializeAsString());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->session, SessionName(kSecret));
}

}  // namespace
}  // namespace nanwatch
