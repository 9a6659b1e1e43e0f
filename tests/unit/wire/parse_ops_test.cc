#include <gmock/gmock.h>

#include <cmath>

#include "model/limits.h"
#include "tests/unit/wire/batch_builder.h"
#include "wire/parse.h"

namespace nanwatch {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

const OpColumns& ColumnsOf(const Parsed& parsed) {
  return std::get<OpBatch>(parsed.message.body).columns;
}

// Parses with ten ops of 1024 elements named.
Parsed ParseOps(const v1::IngestRequest& request) {
  OpShapes shapes;
  Parse(NamesRequest(0, 10), &shapes);
  return Parse(request, &shapes);
}

void ExpectRefused(const v1::IngestRequest& request, const char* sentence) {
  const Parsed parsed = ParseOps(request);
  ASSERT_TRUE(parsed.refused) << sentence;
  EXPECT_THAT(parsed.refused->message, HasSubstr(sentence));
  EXPECT_THAT(parsed.refused->message, HasSubstr("OpBatch of session abc"));
  EXPECT_TRUE(std::holds_alternative<Dropped>(parsed.message.body));
}

TEST(ParseOpsTest, TakesElementsFromTheShape) {
  const Parsed parsed = ParseOps(OpsRequest(3));
  ASSERT_FALSE(parsed.refused) << parsed.refused->message;
  const OpColumns& ops = ColumnsOf(parsed);
  EXPECT_THAT(ops.op, ElementsAre(0, 1, 2));
  ASSERT_EQ(ops.groups.size(), 1u);
  EXPECT_EQ(ops.groups[0].step, 17);
  EXPECT_EQ(ops.groups[0].end, 3u);
  EXPECT_THAT(ops.slot,
              ElementsAre(Slot::kOutput, Slot::kOutput, Slot::kOutput));
  EXPECT_THAT(ops.elements, Each(1024u));
}

TEST(ParseOpsTest, TakesElementsFromTheStorageShapeWhenThereIsOne) {
  v1::IngestRequest names = NamesRequest(0, 1);
  names.mutable_op_names()->mutable_ops(0)->add_storage_shape(4096);
  OpShapes shapes;
  Parse(names, &shapes);
  EXPECT_THAT(ColumnsOf(Parse(OpsRequest(1), &shapes)).elements,
              ElementsAre(4096));
}

TEST(ParseOpsTest, OfNoElementsNothingIsCounted) {
  v1::IngestRequest request = OpsRequest(3);
  v1::CountColumn* elements = request.mutable_ops()->mutable_elements();
  elements->add_row_gaps(1);
  elements->add_counts(0);
  v1::CountColumn* nan = request.mutable_ops()->mutable_nan();
  nan->Clear();
  nan->add_row_gaps(2);
  nan->add_counts(3);
  EXPECT_FALSE(ParseOps(request).refused);
  nan->set_row_gaps(0, 1);
  ExpectRefused(request, "more than its 0 elements leave");
}

TEST(ParseOpsTest, TakesListedElementsFirst) {
  v1::IngestRequest request = OpsRequest(3);
  v1::CountColumn* elements = request.mutable_ops()->mutable_elements();
  elements->add_row_gaps(1);
  elements->add_counts(7);
  elements->set_absent("\x04");
  EXPECT_THAT(ColumnsOf(ParseOps(request)).elements, ElementsAre(1024, 7, 0));
}

TEST(ParseOpsTest, ReadsCountsSparseDenseAndEmpty) {
  v1::IngestRequest request = OpsRequest(4);
  v1::CountColumn* nan = request.mutable_ops()->mutable_nan();
  nan->add_row_gaps(0);
  nan->add_counts(5);
  nan->add_row_gaps(3);
  nan->add_counts(6);
  for (const uint64_t count : {0, 0, 9, 1}) {
    request.mutable_ops()->mutable_zero()->add_counts(count);
  }
  request.mutable_ops()->mutable_pos_inf();
  const Parsed parsed = ParseOps(request);
  ASSERT_FALSE(parsed.refused) << parsed.refused->message;
  const OpStatus first = ReadRow(ColumnsOf(parsed), 0);
  EXPECT_EQ(first.get(OpCount::kNan), 5u);
  EXPECT_EQ(first.get(OpCount::kZero), 0u);
  EXPECT_EQ(first.get(OpCount::kPosInf), 0u);
  EXPECT_EQ(first.get(OpCount::kNegInf), std::nullopt);
  const OpStatus last = ReadRow(ColumnsOf(parsed), 3);
  EXPECT_EQ(last.get(OpCount::kNan), 6u);
  EXPECT_EQ(last.get(OpCount::kZero), 1u);
}

TEST(ParseOpsTest, DropsACountThatIsAbsent) {
  v1::IngestRequest request = OpsRequest(2);
  v1::CountColumn* nan = request.mutable_ops()->mutable_nan();
  nan->add_row_gaps(1);
  nan->add_counts(5);
  nan->set_absent("\x02");
  const OpStatus row = ReadRow(ColumnsOf(ParseOps(request)), 1);
  EXPECT_EQ(row.get(OpCount::kNan), std::nullopt);
}

TEST(ParseOpsTest, RefusesMoreCountsThanElements) {
  v1::IngestRequest request = OpsRequest(2);
  v1::CountColumn* nan = request.mutable_ops()->mutable_nan();
  nan->add_row_gaps(1);
  nan->add_counts(1000);
  EXPECT_FALSE(ParseOps(request).refused);
  v1::CountColumn* zero = request.mutable_ops()->mutable_zero();
  zero->add_row_gaps(1);
  zero->add_counts(25);
  ExpectRefused(request,
                "row 1 (op 1, step 17) counts 25 in column zero, more "
                "than its 1024 elements leave");
}

TEST(ParseOpsTest, RefusesExponentsThatCountTooMuch) {
  v1::IngestRequest request = OpsRequest(2);
  v1::ExponentCounts* counts = request.mutable_ops()->add_exponents();
  counts->set_first(-3);
  counts->add_counts(1024);
  EXPECT_FALSE(ParseOps(request).refused);
  counts->add_counts(1);
  ExpectRefused(request, "in column exponents");
  counts->set_first(1023);
  ExpectRefused(request, "exponents of row 0 run from 1023 to 1024");
}

TEST(ParseOpsTest, RefusesSketchesThatAreNone) {
  v1::IngestRequest request = OpsRequest(2);
  v1::Sketches* sketches = request.mutable_ops()->mutable_sketches();
  sketches->add_rows(1);
  for (size_t i = 0; i < kSketchSums; ++i) sketches->add_values(1);
  EXPECT_FALSE(ParseOps(request).refused);
  sketches->set_values(3, NAN);
  ExpectRefused(request, "the sketch of row 1 is not finite");
  sketches->set_values(3, 1);
  sketches->add_values(1);
  ExpectRefused(request, "1 sketches have 17 values for 2 rows");
  sketches->mutable_values()->Truncate(kSketchSums);
  sketches->mutable_nan()->add_counts(1);
  EXPECT_FALSE(ParseOps(request).refused);
  sketches->mutable_nan()->add_counts(1);
  ExpectRefused(request, "sketches.nan");
  sketches->clear_nan();
  sketches->set_rows(0, 2);
  ExpectRefused(request, "sketches name row 2 of 2");
}

TEST(ParseOpsTest, RefusesRowsThatDoNotRise) {
  v1::IngestRequest request = OpsRequest(2);
  v1::CountColumn* nan = request.mutable_ops()->mutable_nan();
  nan->add_row_gaps(1);
  nan->add_counts(1);
  nan->add_row_gaps(0);
  nan->add_counts(1);
  ExpectRefused(request, "column nan names row 1 of 2 in entry 1");

  request = OpsRequest(2);
  nan = request.mutable_ops()->mutable_nan();
  nan->add_row_gaps(UINT32_MAX);
  nan->add_counts(1);
  ExpectRefused(request, "column nan names row 4294967295 of 2");

  nan->add_counts(1);
  ExpectRefused(request, "column nan holds 2 counts for 1 named rows");
}

TEST(ParseOpsTest, RefusesAnOpThatWasNotNamed) {
  ExpectRefused(OpsRequest(11),
                "row 10 is of op 10, but this stream has sent 10 op names");
  v1::IngestRequest request = OpsRequest(1);
  request.mutable_ops()->set_op_deltas(0, -1);
  ExpectRefused(request, "row 0 is of op -1");
  EXPECT_TRUE(Parse(OpsRequest(1), nullptr).refused);
}

TEST(ParseOpsTest, RefusesGroupsThatDoNotAddUp) {
  v1::IngestRequest request = OpsRequest(3);
  request.mutable_ops()->set_step_rows(0, 2);
  ExpectRefused(request, "step_rows do not add up to the 3 rows");
  request.mutable_ops()->set_step_rows(0, UINT32_MAX);
  ExpectRefused(request, "step_rows do not add up to the 3 rows");
  request.mutable_ops()->add_step_rows(1);
  ExpectRefused(request, "2 step_rows, 1 steps and 1 times");
}

TEST(ParseOpsTest, RefusesSlotsThatAreNone) {
  v1::IngestRequest request = OpsRequest(3);
  request.mutable_ops()->set_slots(0, v1::SLOT_UNSPECIFIED);
  ExpectRefused(request, "slot 0 is none of 1 .. 7");
  request.mutable_ops()->add_slots(v1::SLOT_INPUT);
  ExpectRefused(request, "column slots holds 2 values for 3 rows");
}

TEST(ParseOpsTest, NamesTheLimitThatWasHit) {
  const Parsed parsed =
      ParseOps(OpsRequest(static_cast<int>(limits::kOpsPerBatch) + 1));
  ASSERT_TRUE(parsed.refused);
  EXPECT_EQ(parsed.refused->limit, "batch_records");
  EXPECT_EQ(std::get<Dropped>(parsed.message.body).ops,
            limits::kOpsPerBatch + 1);
}

}  // namespace
}  // namespace nanwatch
