#include "wire/parse.h"

#include <gmock/gmock.h>

#include <cmath>

#include "model/limits.h"
#include "tests/unit/wire/batch_builder.h"
#include "wire/message_weight.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

void ExpectRefused(const v1::IngestRequest& request, const char* sentence,
                   const char* limit = "") {
  OpShapes shapes;
  const Parsed parsed = Parse(request, &shapes);
  ASSERT_TRUE(parsed.refused) << sentence;
  EXPECT_THAT(parsed.refused->message, HasSubstr(sentence));
  EXPECT_EQ(parsed.refused->limit, limit);
  EXPECT_EQ(parsed.refused->reason,
            *limit == 0 ? RefusalReason::kInvalid : RefusalReason::kLimit);
}

TEST(ParseTest, ReadsAnOpening) {
  v1::IngestRequest request = OpenRequest();
  request.mutable_open()->mutable_run()->set_attempt(2);
  request.mutable_open()->set_acked_sequence(9);
  const Parsed parsed = Parse(request, nullptr);
  ASSERT_FALSE(parsed.refused) << parsed.refused->message;
  EXPECT_EQ(parsed.message.session, kSession);
  EXPECT_EQ(parsed.message.sequence, 0u);
  const auto& open = std::get<OpenSessionMessage>(parsed.message.body);
  EXPECT_EQ(open.session, kSession);
  EXPECT_EQ(open.run_id, "job-7");
  EXPECT_EQ(open.attempt, 2);
  EXPECT_EQ(open.run.world_size, 4);
  EXPECT_EQ(open.rank.rank, 1);
  EXPECT_EQ(open.client_time, FromMicros(kNowUs));
  EXPECT_EQ(open.acked, 9u);
}

TEST(ParseTest, ReadsAWorldOfZeroAsOne) {
  v1::IngestRequest request = OpenRequest();
  request.mutable_open()->mutable_run()->clear_world_size();
  request.mutable_open()->mutable_rank()->clear_rank();
  const Parsed parsed = Parse(request, nullptr);
  EXPECT_EQ(std::get<OpenSessionMessage>(parsed.message.body).run.world_size,
            1);
}

TEST(ParseTest, ReadsWhatOnlyNewerVersionsKnowAsUnknown) {
  v1::IngestRequest request = OpenRequest();
  v1::RunInfo* run = request.mutable_open()->mutable_run();
  run->set_overflow_mode(static_cast<v1::OverflowMode>(99));
  run->mutable_scaler()->set_kind(static_cast<v1::ScalingKind>(-1));
  const Parsed parsed = Parse(request, nullptr);
  ASSERT_FALSE(parsed.refused);
  const auto& open = std::get<OpenSessionMessage>(parsed.message.body);
  EXPECT_EQ(open.run.overflow_mode, OverflowMode::kUnknown);
  EXPECT_EQ(open.run.scaler.kind, ScalingKind::kUnknown);
}

TEST(ParseTest, RefusesOpeningsThatDoNotFit) {
  v1::IngestRequest request = OpenRequest();
  request.mutable_open()->set_session(0);
  ExpectRefused(request, "its session is 0");

  request = OpenRequest();
  request.mutable_open()->mutable_rank()->set_rank(4);
  ExpectRefused(request, "rank 4 is outside a world of 4");

  request = OpenRequest();
  request.mutable_open()->mutable_rank()->set_tp(-1);
  ExpectRefused(request, "rank.tp is -1");

  request = OpenRequest();
  request.mutable_open()->mutable_run()->set_attempt(-1);
  ExpectRefused(request, "run.attempt is -1");

  request = OpenRequest();
  request.mutable_open()->mutable_run()->set_world_size(1 << 30);
  ExpectRefused(request, "run.world_size is 1073741824");

  request = OpenRequest();
  request.mutable_open()->set_client_time_us(INT64_MAX);
  ExpectRefused(request, "client_time_us is 9223372036854775807");

  request = OpenRequest();
  request.mutable_open()->mutable_run()->mutable_scaler()->set_backoff_factor(
      std::nan(""));
  ExpectRefused(request, "scaler.backoff_factor must be a positive number");
}

TEST(ParseTest, BoundsEveryString) {
  const std::string longest(limits::kNameBytes, 'x');
  v1::IngestRequest request = OpenRequest();
  request.mutable_open()->mutable_run()->set_run_id(longest);
  EXPECT_FALSE(Parse(request, nullptr).refused);
  request.mutable_open()->mutable_run()->set_run_id(longest + "x");
  ExpectRefused(request, "run.run_id has 513 bytes", "string_bytes");

  request = OpenRequest();
  request.mutable_open()->mutable_rank()->set_host(longest + "x");
  ExpectRefused(request, "rank.host has 513 bytes", "string_bytes");

  request = OpenRequest();
  auto& settings = *request.mutable_open()->mutable_run()->mutable_settings();
  settings["key"] = std::string(limits::kSettingBytes + 1, 'x');
  ExpectRefused(request, "a value of 1025 bytes", "string_bytes");
  settings.clear();
  for (size_t i = 0; i <= limits::kSettings; ++i) {
    settings[std::to_string(i)] = "";
  }
  ExpectRefused(request, "65 settings", "settings");

  request = NamesRequest(0, 1);
  request.mutable_op_names()->mutable_ops(0)->set_type(longest + "x");
  ExpectRefused(request, "a string of op 0 has 513 bytes", "string_bytes");
}

TEST(ParseTest, BoundsOpNames) {
  ExpectRefused(NamesRequest(limits::kOpsPerSession, 1),
                "op names up to index 65537", "ops_per_session");
  ExpectRefused(NamesRequest(UINT32_MAX, 1), "op names up to index 4294967296",
                "ops_per_session");
  ExpectRefused(NamesRequest(0, 1, -1), "op 0 has a dimension of -1");
  ExpectRefused(NamesRequest(0, 1, INT64_MAX), "more than 2^64 - 1 elements");
  v1::IngestRequest request = NamesRequest(0, 1);
  for (int i = 0; i < 15; ++i) {
    request.mutable_op_names()->mutable_ops(0)->add_logical_shape(1);
  }
  ExpectRefused(request, "a shape of 17 dimensions", "shape_dims");
  request.mutable_op_names()->mutable_ops(0)->clear_name();
  ExpectRefused(request, "op 0 has no name");
}

TEST(ParseTest, TakesOpNamesInOrderAndAgain) {
  OpShapes shapes;
  EXPECT_TRUE(Parse(NamesRequest(1, 1), &shapes).refused);
  EXPECT_EQ(shapes.size(), 0u);
  EXPECT_FALSE(Parse(NamesRequest(0, 2), &shapes).refused);
  EXPECT_FALSE(Parse(NamesRequest(1, 2, 5), &shapes).refused);
  EXPECT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes.elements(0), 1024u);
  EXPECT_EQ(shapes.elements(1), 20u);
}

TEST(ParseTest, ShapesOfAllSessionsShareOneBudget) {
  ShapeBudget budget(5);
  OpShapes one(&budget);
  {
    OpShapes other(&budget);
    EXPECT_FALSE(Parse(NamesRequest(0, 3), &one).refused);
    EXPECT_FALSE(Parse(NamesRequest(0, 2), &other).refused);
    EXPECT_FALSE(Parse(NamesRequest(0, 2), &other).refused) << "known ones";
    const Parsed parsed = Parse(NamesRequest(3, 1), &one);
    ASSERT_TRUE(parsed.refused);
    EXPECT_EQ(parsed.refused->limit, "op_shapes");
    EXPECT_THAT(parsed.refused->message, HasSubstr("report a sample"));
    EXPECT_EQ(one.size(), 3u);
    EXPECT_EQ(budget.held(), 5u);
  }
  EXPECT_EQ(budget.held(), 3u);
  EXPECT_FALSE(Parse(NamesRequest(3, 1), &one).refused);
  one.Clear();
  EXPECT_EQ(budget.held(), 0u);
}

TEST(ParseTest, RefusesASequenceOfZero) {
  ExpectRefused(StepsRequest(1, 0), "its sequence is 0");
  ExpectRefused(NamesRequest(0, 1, 1, 0), "its sequence is 0");
  v1::IngestRequest request;
  request.mutable_close()->set_session(kSession);
  ExpectRefused(request, "its sequence is 0");
}

TEST(ParseTest, ReadsDroppedAndClose) {
  v1::IngestRequest request;
  v1::Dropped* dropped = request.mutable_dropped();
  dropped->set_session(kSession);
  dropped->set_sequence(3);
  dropped->set_steps(10);
  dropped->set_first_step(5);
  dropped->set_last_step(14);
  const Parsed parsed = Parse(request, nullptr);
  ASSERT_FALSE(parsed.refused);
  EXPECT_EQ(std::get<Dropped>(parsed.message.body).steps, 10u);
  dropped->set_last_step(4);
  ExpectRefused(request, "dropped steps from 5 to 4");

  request.mutable_close()->set_session(kSession);
  request.mutable_close()->set_sequence(4);
  EXPECT_FALSE(
      std::get<CloseMessage>(Parse(request, nullptr).message.body).end);

  v1::ProgramEnd* end = request.mutable_close()->mutable_end();
  end->set_kind(v1::PROGRAM_END_KIND_OUT_OF_MEMORY);
  end->set_type("OutOfMemoryError");
  end->set_message("CUDA out of memory.");
  EXPECT_EQ(std::get<CloseMessage>(Parse(request, nullptr).message.body).end,
            (ProgramEnd{ProgramEnd::Kind::kOutOfMemory, "OutOfMemoryError",
                        "CUDA out of memory."}));
  end->set_kind(static_cast<v1::ProgramEndKind>(99));
  EXPECT_EQ(
      std::get<CloseMessage>(Parse(request, nullptr).message.body).end->kind,
      ProgramEnd::Kind::kUnknown);
  end->set_message(std::string(1025, 'x'));
  ExpectRefused(request, "end.message has 1025 bytes", "string_bytes");
}

TEST(ParseTest, RefusesAMessageOfNoKind) {
  ExpectRefused(v1::IngestRequest(), "of no kind that this daemon knows");
}

TEST(ParseTest, SaysWhichStringIsNotUtf8) {
  v1::IngestRequest request = OpenRequest();
  request.mutable_open()->mutable_run()->set_job("caf?");
  std::string bytes = request.SerializeAsString();
  bytes[bytes.find("caf?") + 3] = '\xe9';
  v1::IngestRequest partial;
  ASSERT_FALSE(partial.ParseFromString(bytes));
  const Parsed parsed = ParseMalformed(partial, bytes.size());
  ASSERT_TRUE(parsed.refused);
  EXPECT_EQ(parsed.refused->message,
            "OpenSession of session abc, sequence 0: the string open.run.job "
            "is not UTF-8; convert it");
  EXPECT_EQ(parsed.message.session, kSession);
}

TEST(ParseTest, KeepsTheSequenceOfBytesThatWereCut) {
  v1::IngestRequest request = StepsRequest(50, 7);
  const std::string bytes = request.SerializeAsString();
  v1::IngestRequest partial;
  ASSERT_FALSE(partial.ParseFromString(bytes.substr(0, 40)));
  const Parsed parsed = ParseMalformed(partial, 40);
  EXPECT_THAT(parsed.refused->message,
              HasSubstr("its 40 bytes are not a nanwatch.v1.IngestRequest"));
  EXPECT_EQ(parsed.message.session, kSession);
  EXPECT_EQ(parsed.message.sequence, 7u);
  EXPECT_TRUE(std::holds_alternative<Dropped>(parsed.message.body));
}

TEST(ParseTest, SaysHowLargeAMessageMayBe) {
  const Parsed parsed = ParseOversized(StepsRequest(1), 5 << 20);
  EXPECT_EQ(parsed.refused->limit, "message_bytes");
  EXPECT_THAT(parsed.refused->message,
              HasSubstr("5242880 bytes, at most 4194304"));
}

TEST(ParseTest, WeighsMoreThanTheBytesOfItsColumns) {
  OpShapes shapes;
  const Parsed parsed = Parse(StepsRequest(1000), &shapes);
  EXPECT_GE(WeightOf(parsed.message), 16000u);
  EXPECT_LE(WeightOf(parsed.message), 20000u);
}

}  // namespace
}  // namespace nanwatch
