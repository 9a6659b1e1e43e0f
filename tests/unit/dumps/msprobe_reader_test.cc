#include "dumps/msprobe_reader.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

// An entry of one tensor in each place.
std::string Tensor(const char* max, const char* min = "-1.0",
                   const char* mean = "0.25", const char* norm = "4.0") {
  return std::string(
             "{\"type\": \"torch.Tensor\", \"dtype\": "
             "\"torch.float32\", \"shape\": [2, 3], \"Max\": ") +
         max + ", \"Min\": " + min + ", \"Mean\": " + mean +
         ", \"Norm\": " + norm + ", \"requires_grad\": true}";
}

std::string Dump(const std::string& data) {
  return "{\"task\": \"statistics\", \"level\": \"mix\", \"data\": {" + data +
         "}}";
}

Result<std::vector<MsprobeTensor>> Read(const std::string& json,
                                        size_t* empty = nullptr) {
  MsprobeReader reader;
  const Status fed = reader.Feed(json);
  if (!fed.ok()) return Error{fed.error()};
  Result<std::vector<MsprobeTensor>> tensors = reader.Finish();
  if (empty != nullptr) *empty = reader.empty();
  return tensors;
}

TEST(MsprobeReaderTest, AModulesInputOutputAndParameters) {
  const auto read = Read(
      Dump("\"Module.fc.Linear.forward.0\": {\"input_args\": [" + Tensor("1") +
           ", {\"type\": \"float\", \"value\": 0.5}], \"input_kwargs\": "
           "{\"mask\": " +
           Tensor("2") + "}, \"output\": [" + Tensor("3") +
           "], \"parameters\": {\"weight\": " + Tensor("4") + "}}"));
  ASSERT_TRUE(read.ok()) << read.error();
  ASSERT_EQ(read->size(), 5u);
  const auto at = [&read](size_t i) { return (*read)[i].dumped; };
  EXPECT_EQ(at(0).op.name, "fc");
  EXPECT_EQ(at(0).op.type, "Linear");
  EXPECT_EQ(at(0).op.dtype, Dtype::kFp32);
  EXPECT_THAT(at(0).op.logical_shape, testing::ElementsAre(2, 3));
  EXPECT_EQ(at(0).tensor.slot, Slot::kInput);
  EXPECT_EQ(at(0).tensor.elements, 6u);
  EXPECT_EQ(at(0).tensor.statistics->norm, 4);
  EXPECT_EQ(at(1).tensor.statistics->max, 0.5);
  EXPECT_EQ(at(1).tensor.elements, 1u);
  EXPECT_EQ(at(2).tensor.statistics->max, 2);
  EXPECT_EQ(at(3).tensor.slot, Slot::kOutput);
  EXPECT_EQ(at(4).op.name, "fc.weight");
  EXPECT_EQ(at(4).tensor.slot, Slot::kParameter);
}

TEST(MsprobeReaderTest, FunctionsBehindTheBackwardPassAreTheOptimizers) {
  const std::string made = "{\"output\": [" + Tensor("1") + "]}";
  const auto read =
      Read(Dump("\"Functional.gelu.0.forward\": " + made +
                ", \"Functional.gelu.0.backward\": {\"input\": [" +
                Tensor("1") + "], \"output\": [" + Tensor("1") +
                "]}, \"Module.fc.Linear.parameters_grad.0\": {\"weight\": [" +
                Tensor("1") + "]}, \"Tensor.add_.0.forward\": " + made));
  ASSERT_TRUE(read.ok()) << read.error();
  std::vector<Slot> slots;
  for (const MsprobeTensor& t : *read) slots.push_back(t.dumped.tensor.slot);
  EXPECT_THAT(slots, testing::ElementsAre(Slot::kOutput, Slot::kGradOutput,
                                          Slot::kGradInput, Slot::kGradInput,
                                          Slot::kOptimizerState));
  EXPECT_EQ((*read)[3].dumped.op.name, "fc.weight");
  EXPECT_EQ((*read)[1].dumped.op.type, "geluBackward");
}

TEST(MsprobeReaderTest, NaNAndInfinityAreSaidInNumbersOrWords) {
  const auto read = Read(Dump("\"Functional.f.0.forward\": {\"output\": [" +
                              Tensor("NaN", "NaN") + ", " + Tensor("\"inf\"") +
                              ", " + Tensor("1", "-Infinity") + "]}"));
  ASSERT_TRUE(read.ok()) << read.error();
  const auto at = [&read](size_t i) { return (*read)[i].dumped.tensor; };
  EXPECT_EQ(at(0).nan, 1u);
  EXPECT_FALSE(at(0).inf);
  EXPECT_EQ(at(1).nan, 0u);
  EXPECT_EQ(at(1).inf, 1u);
  EXPECT_EQ(at(2).inf, 1u);
}

TEST(MsprobeReaderTest, ATensorWithoutNumbersIsCounted) {
  size_t empty = 0;
  const auto read = Read(
      Dump("\"Functional.f.0.forward\": {\"output\": [" +
           Tensor("null", "null", "null", "null") + ", " + Tensor("1") + "]}"),
      &empty);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->size(), 1u);
  EXPECT_EQ(empty, 1u);
}

TEST(MsprobeReaderTest, AChecksumIsToldApart) {
  const auto checksum = [](const char* text) {
    const auto read = Read(
        Dump(std::string("\"Functional.f.0.forward\": {\"output\": [{\"type\": "
                         "\"torch.Tensor\", \"dtype\": \"torch.int64\", "
                         "\"shape\": [], \"md5\": \"") +
             text + "\"}]}"));
    EXPECT_TRUE(read.ok());
    return (*read)[0].dumped.tensor.statistics->checksum;
  };
  EXPECT_TRUE(checksum("0123abcd"));
  EXPECT_EQ(checksum("0123abcd"), checksum("0123abcd"));
  EXPECT_NE(checksum("0123abcd"), checksum("0123abce"));
}

class NoDump : public testing::TestWithParam<const char*> {};

TEST_P(NoDump, IsRefused) { EXPECT_FALSE(Read(GetParam()).ok()); }

INSTANTIATE_TEST_SUITE_P(All, NoDump,
                         testing::Values("{}", "[]", "1", "\"data\"",
                                         "{\"data\": []}", "{\"data\": 1}",
                                         "{\"data\": {}", "[{\"data\": {}}]"));

TEST(MsprobeReaderTest, OddShapesOfAnEntryDoNoHarm) {
  for (const char* data :
       {"\"x\": 1", "\"x\": []", "\"x\": {\"output\": 1}",
        "\"x\": {\"output\": {\"dtype\": \"a\", \"shape\": [-1, 1e300]}}",
        "\"x\": {\"output\": [[[{\"dtype\": \"a\", \"Max\": {}}]]]}",
        "\"\": {\"\": [{\"dtype\": \"\", \"value\": 1}]}"}) {
    EXPECT_TRUE(Read(Dump(data)).ok()) << data;
  }
}

}  // namespace
}  // namespace nanwatch
