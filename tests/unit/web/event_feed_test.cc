#include "web/event_feed.h"

#include <gmock/gmock.h>

#include "tests/unit/metrics/sample_run.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;

const Time kStart = FromMicros(1700000000000000);
constexpr char kComment[] = ":\n\n";

TEST(EventFeedTest, TellsAChangeOnceASecond) {
  EventFeed feed({});
  const auto one = SnapshotOf({SampleRun("a")});
  EXPECT_EQ(feed.Next(one, kStart), "retry: 3000\n\n");
  EXPECT_EQ(feed.Next(one, kStart + milliseconds(1500)), "");
  const auto two = SnapshotOf({SampleRun("b")});
  EXPECT_THAT(feed.Next(two, kStart + milliseconds(1600)),
              StartsWith("event: change\ndata: "));
  const auto three = SnapshotOf({SampleRun("c")});
  // Not yet; then it is not forgotten.
  EXPECT_EQ(feed.Next(three, kStart + milliseconds(1700)), "");
  EXPECT_THAT(feed.Next(three, kStart + milliseconds(2600)),
              StartsWith("event: change\n"));
  EXPECT_EQ(feed.Next(three, kStart + milliseconds(3700)), "");
}

TEST(EventFeedTest, AsksWhetherSomebodyIsThere) {
  EventFeed feed({});
  const auto snapshot = SnapshotOf({});
  feed.Next(snapshot, kStart);
  EXPECT_EQ(feed.Next(snapshot, kStart + milliseconds(2999)), "");
  EXPECT_EQ(feed.Next(snapshot, kStart + milliseconds(3000)), kComment);
  EXPECT_EQ(feed.Next(snapshot, kStart + milliseconds(5999)), "");
  EXPECT_EQ(feed.Next(snapshot, kStart + milliseconds(6000)), kComment);
}

TEST(EventFeedTest, OfOneRunTellsNoOthers) {
  EventFeed feed({"a", 0});
  auto first = std::make_shared<Snapshot>(*SnapshotOf({SampleRun("a")}));
  feed.Next(first, kStart);
  // The same view of "a" beside a new run.
  auto second = std::make_shared<Snapshot>(*first);
  second->runs.Set(1, std::make_shared<RunView>(SampleRun("b")));
  EXPECT_EQ(feed.Next(second, kStart + milliseconds(1500)), "");
  auto third = std::make_shared<Snapshot>(*second);
  third->runs.Set(0, std::make_shared<RunView>(SampleRun("a")));
  EXPECT_THAT(feed.Next(third, kStart + milliseconds(2500)),
              StartsWith("event: change\n"));
  // A run that leaves is a change, too.
  EXPECT_THAT(feed.Next(SnapshotOf({}), kStart + milliseconds(3600)),
              StartsWith("event: change\n"));
}

TEST(EventFeedTest, AClockThatIsSetBackDoesNotSilenceIt) {
  EventFeed feed({});
  feed.Next(SnapshotOf({}), kStart);
  EXPECT_THAT(feed.Next(SnapshotOf({}), kStart - std::chrono::hours(1)),
              StartsWith("event: change\n"));
}

}  // namespace
}  // namespace nanwatch
