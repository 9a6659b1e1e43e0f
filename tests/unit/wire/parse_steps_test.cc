#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "model/limits.h"
#include "tests/unit/wire/batch_builder.h"
#include "wire/parse.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const StepColumns& ColumnsOf(const Parsed& parsed) {
  return std::get<StepBatch>(parsed.message.body).columns;
}

// Parses with one op named.
Parsed ParseSteps(const v1::IngestRequest& request) {
  OpShapes shapes;
  Parse(NamesRequest(0, 1), &shapes);
  return Parse(request, &shapes);
}

void ExpectRefused(const v1::IngestRequest& request, const char* sentence) {
  const Parsed parsed = ParseSteps(request);
  ASSERT_TRUE(parsed.refused) << sentence;
  EXPECT_THAT(parsed.refused->message, HasSubstr(sentence));
  EXPECT_THAT(parsed.refused->message,
              HasSubstr("StepBatch of session abc, sequence 1: "));
  EXPECT_TRUE(std::holds_alternative<Dropped>(parsed.message.body));
}

TEST(ParseStepsTest, SumsDifferences) {
  v1::IngestRequest request = StepsRequest(3);
  request.mutable_steps()->set_step_deltas(2, -1);
  const Parsed parsed = ParseSteps(request);
  ASSERT_FALSE(parsed.refused);
  EXPECT_EQ(parsed.message.session, kSession);
  EXPECT_EQ(parsed.message.sequence, 1u);
  EXPECT_EQ(parsed.message.sent, FromMicros(kNowUs));
  EXPECT_THAT(ColumnsOf(parsed).step, ElementsAre(1, 2, 1));
  EXPECT_THAT(ColumnsOf(parsed).time,
              ElementsAre(FromMicros(kNowUs), FromMicros(kNowUs + 1'000'000),
                          FromMicros(kNowUs + 2'000'000)));
}

TEST(ParseStepsTest, TellsNotCollectedFromAbsentFromNan) {
  v1::IngestRequest request = StepsRequest(3);
  v1::DoubleColumn* loss = request.mutable_steps()->mutable_loss();
  loss->add_values(std::nan(""));
  loss->add_values(5);  // absent: whatever stands there
  loss->add_values(std::numeric_limits<double>::infinity());
  loss->set_absent("\x02");
  const Parsed parsed = ParseSteps(request);
  ASSERT_FALSE(parsed.refused);
  StepReader reader(ColumnsOf(parsed));
  StepRecord record;
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_TRUE(std::isnan(record[StepField::kLoss]));
  EXPECT_FALSE(record.has(StepField::kGradNorm));
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_FALSE(record.has(StepField::kLoss));
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_TRUE(std::isinf(record[StepField::kLoss]));
  EXPECT_EQ(ColumnsOf(parsed).field[0]->values[1], 0);
}

// A rule speaks of such a scale; the border lets it in.
TEST(ParseStepsTest, TakesALossScaleThatIsZeroNegativeOrNan) {
  v1::IngestRequest request = StepsRequest(3);
  v1::DoubleColumn* scale = request.mutable_steps()->mutable_loss_scale();
  scale->add_values(0);
  scale->add_values(-8);
  scale->add_values(std::nan(""));
  EXPECT_FALSE(ParseSteps(request).refused);
}

TEST(ParseStepsTest, ReadsFlagsOptimizersStatusAndLayerScales) {
  v1::IngestRequest request = StepsRequest(2);
  v1::StepBatch* steps = request.mutable_steps();
  steps->mutable_overflow()->set_values("\x03");
  steps->mutable_overflow()->set_absent("\x01");
  steps->add_optimizers("generator");
  steps->add_optimizers("discriminator");
  steps->add_optimizer(1);
  steps->add_optimizer(0);
  v1::FloatStatus* status = steps->add_float_status();
  status->set_row(1);
  status->add_words(9);
  steps->mutable_layer_scales()->add_rows(1);
  steps->mutable_layer_scales()->add_ops(0);
  steps->mutable_layer_scales()->add_scales(128);
  const Parsed parsed = ParseSteps(request);
  ASSERT_FALSE(parsed.refused);
  StepReader reader(ColumnsOf(parsed));
  StepRecord record;
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_FALSE(record.is(StepFlag::kOverflow));
  EXPECT_FALSE(record.is_not(StepFlag::kOverflow));
  EXPECT_EQ(record.optimizer, 1);
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_TRUE(record.is(StepFlag::kOverflow));
  ASSERT_NE(record.float_status, nullptr);
  EXPECT_EQ(record.float_status->words[0], 9);
  ASSERT_EQ(record.layer_scales.size(), 1u);
  EXPECT_EQ(record.layer_scales[0].scale, 128);
}

TEST(ParseStepsTest, ReadsHowUpdatesAreMadeAndOfWhichSamples) {
  v1::IngestRequest request = StepsRequest(3);
  v1::StepBatch* steps = request.mutable_steps();
  steps->add_update_facts()->set_fault(v1::UPDATE_FAULT_OTHER_WEIGHTS);
  v1::UpdateFacts* facts = steps->add_update_facts();
  facts->set_row(2);
  facts->set_fault(static_cast<v1::UpdateFault>(99));  // of a newer client
  facts->set_stuck_fraction(0.5);
  v1::SampleRange* samples = steps->add_samples();
  samples->set_row(1);
  samples->set_first(-4);
  samples->set_last(1 << 20);
  const Parsed parsed = ParseSteps(request);
  ASSERT_FALSE(parsed.refused);
  StepReader reader(ColumnsOf(parsed));
  StepRecord record;
  ASSERT_TRUE(reader.Next(&record));
  ASSERT_NE(record.update, nullptr);
  EXPECT_EQ(record.update->fault, UpdateFault::kOtherWeights);
  EXPECT_FALSE(record.update->stuck);
  EXPECT_EQ(record.samples, nullptr);
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ(record.update, nullptr);
  ASSERT_NE(record.samples, nullptr);
  EXPECT_EQ(record.samples->first, -4);
  EXPECT_EQ(record.samples->last, 1 << 20);
  ASSERT_TRUE(reader.Next(&record));
  ASSERT_NE(record.update, nullptr);
  EXPECT_EQ(record.update->fault, UpdateFault::kNone);
  EXPECT_EQ(record.update->stuck, 0.5);
  EXPECT_EQ(record.samples, nullptr);
}

TEST(ParseStepsTest, RefusesColumnsThatAreNotAsLongAsTheRows) {
  v1::IngestRequest request = StepsRequest(3);
  request.mutable_steps()->mutable_grad_norm()->add_values(1);
  ExpectRefused(request, "column grad_norm holds 1 values for 3 rows");

  request = StepsRequest(3);
  request.mutable_steps()->add_time_us_deltas(1);
  ExpectRefused(request, "column time_us holds 4 values for 3 rows");

  request = StepsRequest(3);
  request.mutable_steps()->add_replica_digest(1);
  ExpectRefused(request, "column replica_digest holds 1 values for 3 rows");

  request = StepsRequest(3);
  request.mutable_steps()->add_optimizer(0);
  ExpectRefused(request, "column optimizer holds 1 values for 3 rows");

  request = StepsRequest(3);
  request.mutable_steps()->mutable_overflow()->set_values("ab");
  ExpectRefused(request, "column overflow has a bitmap of 2 bytes for 3 rows");
}

TEST(ParseStepsTest, RefusesNumbersOutOfRange) {
  v1::IngestRequest request = StepsRequest(2);
  request.mutable_steps()->set_step_deltas(0, -5);
  ExpectRefused(request, "row 0 is of step -5");

  request = StepsRequest(2);
  request.mutable_steps()->set_step_deltas(0, INT64_MAX);
  ExpectRefused(request, "column step leaves 64 bits");

  request = StepsRequest(2);
  request.mutable_steps()->set_time_us_deltas(0, INT64_MAX / 2);
  ExpectRefused(request, "the time of row 0 is 4611686018427387903");

  request = StepsRequest(2);
  request.mutable_steps()->set_sent_time_us(-1);
  ExpectRefused(request, "sent_time_us is -1");
}

TEST(ParseStepsTest, RefusesRowsThatDoNotFit) {
  v1::IngestRequest request = StepsRequest(2);
  v1::FloatStatus* status = request.mutable_steps()->add_float_status();
  status->set_row(2);
  status->add_words(1);
  ExpectRefused(request, "float_status names row 2 of 2");

  request = StepsRequest(2);
  request.mutable_steps()->add_update_facts()->set_row(2);
  ExpectRefused(request, "update_facts names row 2 of 2");

  request = StepsRequest(2);
  request.mutable_steps()->add_samples()->set_row(1);
  request.mutable_steps()->add_samples()->set_row(1);
  ExpectRefused(request, "samples names row 1 of 2");

  request = StepsRequest(2);
  request.mutable_steps()->add_float_status();
  ExpectRefused(request, "float_status of row 0 has 0 words");

  request = StepsRequest(2);
  v1::LayerScales* scales = request.mutable_steps()->mutable_layer_scales();
  scales->add_rows(0);
  ExpectRefused(request, "layer_scales holds 1 rows, 0 ops and 0 scales");

  scales->add_ops(1);
  scales->add_scales(1);
  ExpectRefused(request,
                "layer_scales names op 1 in row 0, but this stream "
                "has sent 1 op names");

  request = StepsRequest(2);
  request.mutable_steps()->add_optimizer(0);
  request.mutable_steps()->add_optimizer(3);
  ExpectRefused(request, "column optimizer names index 3");

  ExpectRefused(StepsRequest(0), "holds no rows");
}

TEST(ParseStepsTest, NamesTheLimitThatWasHit) {
  Parsed parsed =
      ParseSteps(StepsRequest(static_cast<int>(limits::kStepsPerBatch) + 1));
  ASSERT_TRUE(parsed.refused);
  EXPECT_EQ(parsed.refused->reason, RefusalReason::kLimit);
  EXPECT_EQ(parsed.refused->limit, "batch_records");
  EXPECT_THAT(parsed.refused->message, HasSubstr("4097 steps in one batch"));

  v1::IngestRequest request = StepsRequest(1);
  for (size_t i = 0; i <= limits::kOptimizersPerRank; ++i) {
    request.mutable_steps()->add_optimizers("o");
  }
  parsed = ParseSteps(request);
  ASSERT_TRUE(parsed.refused);
  EXPECT_EQ(parsed.refused->limit, "optimizers");
}

TEST(ParseStepsTest, CountsWhatARefusedBatchLoses) {
  v1::IngestRequest request = StepsRequest(3);
  request.mutable_steps()->mutable_loss();
  const Parsed parsed = ParseSteps(request);
  ASSERT_TRUE(parsed.refused);
  EXPECT_EQ(parsed.message.session, kSession);
  EXPECT_EQ(parsed.message.sequence, 1u);
  const auto& dropped = std::get<Dropped>(parsed.message.body);
  EXPECT_EQ(dropped.steps, 3u);
  EXPECT_EQ(dropped.ops, 0u);
  EXPECT_EQ(dropped.first_step, 1);
  EXPECT_EQ(dropped.last_step, 3);
}

}  // namespace
}  // namespace nanwatch
