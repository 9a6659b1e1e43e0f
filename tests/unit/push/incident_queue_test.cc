#include "push/incident_queue.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(IncidentQueueTest, KeepsTheNewestOnceSomebodyWantsThem) {
  IncidentQueue queue;
  Notice notice;
  queue.Offer(notice);
  EXPECT_TRUE(queue.Take().empty());
  queue.Want();
  for (uint64_t i = 1; i <= IncidentQueue::kMost + 2; ++i) {
    notice.incident.id = i;
    queue.Offer(notice);
  }
  EXPECT_EQ(queue.lost(), 2u);
  const auto taken = queue.Take();
  ASSERT_EQ(taken.size(), IncidentQueue::kMost);
  EXPECT_EQ(taken.front().incident.id, 3u);
  EXPECT_TRUE(queue.Take().empty());
}

}  // namespace
}  // namespace nanwatch
