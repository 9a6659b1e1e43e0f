#include "model/state_bytes.h"

#include <gmock/gmock.h>

#include "engine/state_fields.h"

namespace nanwatch {
namespace {

TEST(StateBytesTest, ReadsWhatWasWritten) {
  const std::map<std::string, std::string> settings = {{"a", "1"}, {"b", ""}};
  const std::vector<OpName> ops = {{.name = "fc1", .logical_shape = {3, 4}},
                                   {.name = "log", .order = 7}};
  const std::vector<std::optional<std::string>> reasons = {"why", {}};
  std::string bytes;
  StateWriter writer(&bytes);
  writer(settings, ops, reasons, uint64_t{5});
  StateReader reader(bytes);
  std::map<std::string, std::string> settings2;
  std::vector<OpName> ops2;
  std::vector<std::optional<std::string>> reasons2;
  uint64_t five = 0;
  reader(settings2, ops2, reasons2, five);
  EXPECT_TRUE(reader.ok() && reader.at_end());
  EXPECT_EQ(settings2, settings);
  EXPECT_EQ(reasons2, reasons);
  EXPECT_EQ(five, 5u);
  ASSERT_EQ(ops2.size(), 2u);
  EXPECT_EQ(ops2[0].logical_shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(ops2[1].order, 7);
}

TEST(StateBytesTest, EveryCutIsNoticed) {
  std::string bytes;
  StateWriter writer(&bytes);
  writer(std::vector<std::string>{"one", "two"}, std::vector<double>{1, 2, 3});
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    StateReader reader(std::string_view(bytes).substr(0, cut));
    std::vector<std::string> words;
    std::vector<double> numbers;
    reader(words, numbers);
    EXPECT_FALSE(reader.ok()) << cut;
  }
}

TEST(StateBytesTest, AHugeLengthAllocatesNothing) {
  std::string bytes;
  StateWriter writer(&bytes);
  writer(uint64_t{1} << 60);
  StateReader reader(bytes);
  std::vector<double> numbers;
  reader(numbers);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(numbers.empty());
}

}  // namespace
}  // namespace nanwatch
