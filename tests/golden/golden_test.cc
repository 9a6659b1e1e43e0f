// Every *.scenario beside this file is a test.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/golden/scenario.h"

namespace nanwatch {
namespace {

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDEN_DIR)) {
    if (entry.path().extension() == ".scenario") {
      files.push_back(entry.path().stem());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, FindsWhatItSays) {
  const std::string path =
      std::string(GOLDEN_DIR) + "/" + GetParam() + ".scenario";
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const auto scenario = ParseScenario(text.str());
  ASSERT_TRUE(scenario.ok()) << path << ": " << scenario.error();
  ASSERT_TRUE(std::any_of(scenario->moments.begin(), scenario->moments.end(),
                          [](const Moment& m) { return m.expect; }))
      << path << " expects nothing";
  for (const std::string& failure : Play(*scenario)) {
    ADD_FAILURE() << path << ", " << failure;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, ::testing::ValuesIn(Files()),
                         [](const auto& info) { return info.param; });

TEST(ScenarioTest, ErrorsNameTheLine) {
  const auto bad = ParseScenario("run a ranks=1\nrank 0 lossy 1\n");
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error(), ::testing::HasSubstr("line 2"));
}

TEST(ScenarioTest, ExpandsTracks) {
  const auto scenario =
      ParseScenario("run a\nrank 0 scale 8 8/2x3 5+1x2\nrank 0 overflow 1 0\n");
  ASSERT_TRUE(scenario.ok());
  std::vector<double> scales;
  for (const Row& row : scenario->rows[0]) scales.push_back(*row.scale);
  EXPECT_THAT(scales, ::testing::ElementsAre(8, 4, 2, 1, 6, 7));
  EXPECT_EQ(scenario->rows[0][0].overflow, true);
  EXPECT_EQ(scenario->rows[0][5].overflow, false);
}

}  // namespace
}  // namespace nanwatch
