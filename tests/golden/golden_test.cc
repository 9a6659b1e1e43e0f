// Every *.scenario beside this file is a test.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "detect/all_rules.h"
#include "tests/golden/scenario.h"
#include "tests/golden/words.h"

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
  const Played played = Play(*scenario);
  for (const std::string& failure : played.failures) {
    ADD_FAILURE() << path << ", " << failure;
  }
  ExpectWordsFile("scenarios/" + GetParam() + ".txt", played.words);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, ::testing::ValuesIn(Files()),
                         [](const auto& info) { return info.param; });

Scenario Load(const std::string& name) {
  std::ifstream in(std::string(GOLDEN_DIR) + "/" + name + ".scenario");
  std::stringstream text;
  text << in.rdbuf();
  Result<Scenario> scenario = ParseScenario(text.str());
  return scenario.ok() ? std::move(*scenario) : Scenario{};
}

// What a scenario says of rules, by the first word: firing, not, resolved.
std::set<std::string> RulesOf(const Scenario& scenario, std::string_view how) {
  std::set<std::string> rules;
  for (const Moment& moment : scenario.moments) {
    const std::vector<std::string>& words = moment.line.words;
    if (!moment.expect || words.size() != 2 || words[0] != how) continue;
    rules.insert(words[1]);
  }
  return rules;
}

std::vector<std::string> NeverFiring(const std::vector<Scenario>& scenarios) {
  std::set<std::string> firing;
  for (const Scenario& scenario : scenarios) {
    firing.merge(RulesOf(scenario, "firing"));
  }
  std::vector<std::string> missing;
  for (const RuleSpec* rule : AllRules()) {
    if (!firing.contains(std::string(rule->name))) {
      missing.emplace_back(rule->name);
    }
  }
  return missing;
}

TEST(ScenarioTest, EveryRuleFiresInOne) {
  std::vector<Scenario> all;
  for (const std::string& file : Files()) all.push_back(Load(file));
  // Runs of scenarios have no benchmark (engine/benchmark_test has), one
  // optimizer (rival_losses_test has two), no evaluations
  // (app/log_judge_test has), and nothing that logs alone tell.
  EXPECT_THAT(NeverFiring(all),
              ::testing::ElementsAre(
                  "bench_loss_divergence", "rival_gone", "evaluation_nonfinite",
                  "layer_without_gradient", "term_nonfinite", "score_lost"))
      << "write a scenario with `expect at TIME firing RULE` for each";
}

TEST(ScenarioTest, EveryFileOfWordsIsThatOfAScenario) {
  const std::vector<std::string> names = Files();
  for (const auto& entry :
       std::filesystem::directory_iterator(WordsFolder() + "/scenarios")) {
    if (std::binary_search(names.begin(), names.end(),
                           entry.path().stem().string())) {
      continue;
    }
    if (WritesGoldens()) {
      std::filesystem::remove(entry.path());
    } else {
      ADD_FAILURE() << entry.path() << " has no scenario";
    }
  }
}

TEST(ScenarioTest, RulesThatNeverFireAreSeen) {
  const auto one = ParseScenario(
      "run a\nexpect at 1s firing loss_spike rank=0\n"
      "expect at 1s not overflow_rate\n");
  ASSERT_TRUE(one.ok());
  const std::vector<std::string> missing = NeverFiring({*one});
  EXPECT_EQ(missing.size(), AllRules().size() - 1);
  EXPECT_THAT(missing, ::testing::Contains("overflow_rate"));
}

// A name that no rule has would be "not firing" for ever.
TEST(ScenarioTest, EveryRuleThatIsNamedExists) {
  for (const std::string& file : Files()) {
    const Scenario scenario = Load(file);
    for (const char* how : {"firing", "not", "resolved"}) {
      for (const std::string& rule : RulesOf(scenario, how)) {
        EXPECT_NE(FindRule(rule), nullptr)
            << file << ": " << how << " " << rule;
      }
    }
  }
}

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
