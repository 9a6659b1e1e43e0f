#include "client_lib/src/envelope.h"

#include <gmock/gmock.h>

namespace nanwatch_client {
namespace {

TEST(EnvelopeTest, ParsesAsTheWholeMessage) {
  nanwatch::v1::Dropped dropped;
  dropped.set_steps(3);
  dropped.set_first_step(-7);
  for (const uint64_t sequence : {1ull, 300ull, 1ull << 40}) {
    nanwatch::v1::IngestRequest request;
    ASSERT_TRUE(request.ParseFromString(
        Envelope(nanwatch::v1::IngestRequest::kDropped, 0xFEDCBA9876543210ull,
                 sequence, dropped.SerializeAsString())));
    ASSERT_TRUE(request.has_dropped());
    EXPECT_EQ(request.dropped().session(), 0xFEDCBA9876543210ull);
    EXPECT_EQ(request.dropped().sequence(), sequence);
    EXPECT_EQ(request.dropped().steps(), 3u);
    EXPECT_EQ(request.dropped().first_step(), -7);
  }
}

TEST(EnvelopeTest, AnEmptyBodyIsAMessage) {
  nanwatch::v1::IngestRequest request;
  ASSERT_TRUE(request.ParseFromString(
      Envelope(nanwatch::v1::IngestRequest::kClose, 1, 2, "")));
  ASSERT_TRUE(request.has_close());
  EXPECT_EQ(request.close().sequence(), 2u);
}

}  // namespace
}  // namespace nanwatch_client
