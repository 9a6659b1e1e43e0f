#include "options.h"

#include <getopt.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace word2vec {
namespace {

struct Parsed {
  bool ok = false;
  Options options;
  std::string error;
};

Parsed Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "nanwatch-word2vec");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  optind = 0;  // getopt begins anew
  Parsed parsed;
  parsed.ok = ParseOptions(static_cast<int>(argv.size()) - 1, argv.data(),
                           &parsed.options, &parsed.error);
  return parsed;
}

TEST(OptionsTest, PaddingIsTheDefault) {
  const Parsed parsed = Parse({});
  ASSERT_TRUE(parsed.ok) << parsed.error;
  EXPECT_EQ(parsed.options.scenario.name, "padding");
  EXPECT_TRUE(parsed.options.scenario.padded);
  EXPECT_FALSE(parsed.options.scenario.should_learn);
}

TEST(OptionsTest, ScalerAndStepsOverrideTheScenario) {
  const Parsed parsed =
      Parse({"--steps=7", "--scaler", "pytorch", "--scenario", "padding"});
  ASSERT_TRUE(parsed.ok) << parsed.error;
  EXPECT_EQ(parsed.options.scenario.steps, 7);
  EXPECT_EQ(parsed.options.scenario.scaler.kind, ScalerChoice::Kind::kPytorch);
}

TEST(OptionsTest, APoisonedBatchMustCome) {
  EXPECT_THAT(Parse({"--scenario", "nan", "--steps", "600"}).error,
              ::testing::HasSubstr("Nothing would be poisoned"));
  EXPECT_FALSE(Parse({"--scenario", "nan", "--steps", "1000"}).ok);
  EXPECT_TRUE(Parse({"--scenario", "nan", "--steps", "1001"}).ok);
  EXPECT_TRUE(
      Parse({"--scenario", "nan", "--steps", "600", "--poison-step", "599"})
          .ok);
  EXPECT_THAT(Parse({"--poison-step", "5"}).error,
              ::testing::HasSubstr("--scenario nan"));
}

TEST(OptionsTest, MistakesAreNamed) {
  EXPECT_THAT(Parse({"--scenario", "cured"}).error,
              ::testing::HasSubstr("\"cured\""));
  EXPECT_THAT(Parse({"--steps", "many"}).error,
              ::testing::HasSubstr("--steps is \"many\""));
  EXPECT_THAT(Parse({"--steps", "0"}).error, ::testing::HasSubstr("from 1"));
  EXPECT_THAT(Parse({"--frobnicate"}).error,
              ::testing::HasSubstr("--frobnicate"));
  EXPECT_THAT(Parse({"stray"}).error, ::testing::HasSubstr("\"stray\""));
  EXPECT_FALSE(Parse({"--scaler", "apex"}).ok);
}

}  // namespace
}  // namespace word2vec
