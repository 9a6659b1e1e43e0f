// The end of the records, as history keeps it.

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <utility>

#include "nanwatch/v1/history.pb.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

RecordsEnded RoundTrip(const RecordsEnded& ended) {
  Event event;
  event.run = {"job-7", 3};
  event.rank = 5;
  event.body = ended;
  std::string bytes;
  EncodeEvent(event, &bytes);
  const Result<Event> back = DecodeEvent(bytes);
  EXPECT_TRUE(back.ok()) << back.error();
  return back.ok() ? std::get<RecordsEnded>(back->body) : RecordsEnded{};
}

TEST(EndCodecTest, KeepsAProgramsWord) {
  for (const auto& over : {std::optional<StepField>(),
                           std::optional<StepField>(StepField::kGradNorm)}) {
    const RecordsEnded ended{
        .how = RecordsEnded::How::kGaveUp,
        .gave_up = GaveUp{"norm is 9e9", over, over.has_value()}};
    EXPECT_EQ(RoundTrip(ended), ended);
  }
  EXPECT_EQ(RoundTrip({}), RecordsEnded{});
}

TEST(EndCodecTest, KeepsHowAProgramBroke) {
  for (int kind = 0; kind < kProgramEndKinds; ++kind) {
    const RecordsEnded ended{
        .how = RecordsEnded::How::kBroke,
        .end = ProgramEnd{static_cast<ProgramEnd::Kind>(kind), "ValueError",
                          "a bad label"}};
    EXPECT_EQ(RoundTrip(ended), ended);
  }
}

TEST(EndCodecTest, OneOfANewerDaemonIsNotGuessedAt) {
  v1::StoredEvent newer;
  newer.mutable_records_ended()->set_how(99);
  const Result<Event> event = DecodeEvent(newer.SerializeAsString());
  ASSERT_TRUE(event.ok()) << event.error();
  EXPECT_EQ(std::get<RecordsEnded>(event->body), RecordsEnded{});
  newer.mutable_records_ended()->mutable_gave_up()->set_over(99);
  EXPECT_FALSE(DecodeEvent(newer.SerializeAsString()).ok());
}

// Returns the event as history holds it.
v1::StoredEvent Stored(const RunClosed& closed) {
  Event event;
  event.run = {"job-7", 3};
  event.body = closed;
  std::string bytes;
  EncodeEvent(event, &bytes);
  v1::StoredEvent stored;
  EXPECT_TRUE(stored.ParseFromString(bytes));
  return stored;
}

bool IsInOrder(const v1::StoredEvent& stored) {
  const Result<Event> read = DecodeEvent(stored.SerializeAsString());
  EXPECT_TRUE(read.ok()) << read.error();
  return read.ok() && std::get<RunClosed>(read->body).in_order;
}

TEST(EndCodecTest, KeepsWhetherAllRanksClosedInOrder) {
  for (const bool in_order : {true, false}) {
    EXPECT_EQ(IsInOrder(Stored({"any words", in_order})), in_order);
  }
}

// Histories of 0.1.0 have the words alone.
TEST(EndCodecTest, ReadsFromOldWordsWhetherAllRanksClosed) {
  for (const auto& [reason, in_order] :
       {std::pair("all ranks closed", true), std::pair("lost", false)}) {
    v1::StoredEvent old = Stored({reason, !in_order});
    old.mutable_run_closed()->clear_in_order();
    EXPECT_EQ(IsInOrder(old), in_order) << reason;
  }
}

}  // namespace
}  // namespace nanwatch
