// Dumps that are lines of text, and the JSON of CANN's overflow check.

#include <gmock/gmock.h>

#include <cmath>

#include "dumps/inspect_line.h"
#include "dumps/op_debug.h"
#include "dumps/paddle_line.h"

namespace nanwatch {
namespace {

TEST(PaddleLineTest, HasTheStatisticsOfAnOpsOutput) {
  const auto read = ReadPaddleLine(
      "[PRECISION] [ERROR] in [device=gpu:0, op=pow_grad, tensor=x@GRAD, "
      "dtype=fp16], numel=30, num_nan=2, num_inf=1, num_zero=4, "
      "max=2.886751e-01, min=-inf, mean=-nan");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->op.name, "x@GRAD");
  EXPECT_EQ(read->op.type, "pow_grad");
  EXPECT_EQ(read->op.dtype, Dtype::kFp16);
  EXPECT_EQ(read->tensor.elements, 30u);
  EXPECT_EQ(read->tensor.nan, 2u);
  EXPECT_EQ(read->tensor.inf, 1u);
  EXPECT_DOUBLE_EQ(*read->tensor.statistics->max, 0.2886751);
  EXPECT_TRUE(std::isinf(*read->tensor.statistics->min));
  EXPECT_TRUE(std::isnan(*read->tensor.statistics->mean));
}

TEST(PaddleLineTest, AnEagerTensorIsNamedAfterItsOp) {
  const auto read = ReadPaddleLine(
      "[PRECISION] in [device=cpu, op=argmax, tensor=, dtype=fp32], numel=3, "
      "num_nan=0, num_inf=0, num_zero=0, max=1.0e+00, min=0.0e+00, mean=0");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->op.name, "argmax");
}

class CutPaddleLine : public testing::TestWithParam<const char*> {};
TEST_P(CutPaddleLine, IsNotRead) { EXPECT_FALSE(ReadPaddleLine(GetParam())); }
INSTANTIATE_TEST_SUITE_P(
    All, CutPaddleLine,
    testing::Values(
        "[PRECISION]", "[PRECISION] in [device=cpu, op=",
        "[PRECISION] in [op=a, dtype=fp32], numel=3, max=1, min=0, mean=",
        "[PRECISION] in [op=a, dtype=fp32], numel=-3, max=1, min=0, mean=0",
        "[PRECISION] in [op=a, dtype=fp32], numel=1e300, mean=0",
        "[PRECISION] in [op=, dtype=fp32], numel=3, max=1, min=0, mean=0"));

TEST(InspectLineTest, LinesOfATensorAreOne) {
  InspectTensors tensors;
  const auto take = [&tensors](const char* text) {
    const std::optional<InspectLine> line = ReadInspectLine(text);
    EXPECT_TRUE(line) << text;
    return tensors.Take(*line);
  };
  EXPECT_FALSE(
      take("INFO - l.fc_activation_max     iteration=000002   value=4.5"));
  EXPECT_FALSE(
      take("INFO - l.fc_activation_l2_norm  iteration=000002   value=9.25"));
  const auto first =
      take("INFO - l.fc_activation_underflows% iteration=000002 value=1.5");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->op.name, "l.fc_activation");
  EXPECT_EQ(first->tensor.step, 2);
  EXPECT_EQ(first->tensor.statistics->max, 4.5);
  EXPECT_EQ(first->tensor.statistics->norm, 9.25);
  EXPECT_FALSE(first->tensor.statistics->min);
  const auto second =
      take("INFO - l.fc_activation_max     iteration=000003   value=nan");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->op.name, "l.fc_activation_underflows%");
  EXPECT_EQ(second->tensor.statistics->max, 1.5);
  const auto last = tensors.Finish();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->tensor.step, 3);
  EXPECT_FALSE(tensors.Finish());
}

class CutInspectLine : public testing::TestWithParam<const char*> {};
TEST_P(CutInspectLine, IsNotRead) { EXPECT_FALSE(ReadInspectLine(GetParam())); }
INSTANTIATE_TEST_SUITE_P(
    All, CutInspectLine,
    testing::Values(" iteration=", "x_max iteration=000002",
                    "x_max iteration=000002 value=",
                    "x_max iteration=two value=1", "x_max iteration=2 value=1x",
                    " iteration=2 value=1"));

Result<std::vector<OpOverflow>> ReadCheck(const std::string& json) {
  OpDebugReader reader;
  const Status fed = reader.Feed(json);
  if (!fed.ok()) return Error{fed.error()};
  return reader.Finish();
}

TEST(OpDebugTest, UnitsWithAStatusAreFoundInTheOldForm) {
  const auto found = ReadCheck(
      R"({"DHA Atomic Add": {"task_id": 1, "stream_id": 2, "status": 2304},
          "L2 Atomic Add": {"task_id": 0, "stream_id": 0, "status": 0},
          "AI Core": {"task_id": 12, "stream_id": 5, "status": 288}})");
  ASSERT_TRUE(found.ok()) << found.error();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].unit, "DHA Atomic Add");
  EXPECT_EQ(MeaningOf((*found)[0]), "overflow");
  EXPECT_EQ((*found)[1].task, 12);
  EXPECT_EQ((*found)[1].stream, 5);
  EXPECT_EQ(MeaningOf((*found)[1]),
            "floating-point arithmetic, FP32 or int32 to FP16");
}

TEST(OpDebugTest, UnitsWithAStatusAreFoundInTheNewForm) {
  const auto found = ReadCheck(
      R"({"magic": "0x5a5a5a5a", "version": 1, "acc_list": [
          {"valid": 1, "acc_type": "AIV", "data_len": 88,
           "data": {"task_id": 7, "stream_id": 3, "core_id": 1,
                    "status": [0, 32, 0, 0]}},
          {"valid": 1, "acc_type": "SDMA",
           "data": {"channel_id": 1, "status": "0x4"}}]})");
  ASSERT_TRUE(found.ok()) << found.error();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].unit, "AIV");
  EXPECT_EQ((*found)[0].status, 32u);
  EXPECT_EQ((*found)[0].task, 7);
  EXPECT_EQ(MeaningOf((*found)[0]), "floating-point arithmetic");
  EXPECT_EQ((*found)[1].unit, "SDMA");
  EXPECT_EQ((*found)[1].task, -1);
  EXPECT_EQ(MeaningOf((*found)[1]), "");
}

TEST(OpDebugTest, OtherJsonIsRefused) {
  for (const char* json :
       {"{}", "[1]", "{\"a\": {\"b\": 1}}", "{\"AI Core\"", "\"status\""}) {
    EXPECT_FALSE(ReadCheck(json).ok()) << json;
  }
}

}  // namespace
}  // namespace nanwatch
