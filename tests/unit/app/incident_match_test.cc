#include "app/incident_match.h"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

namespace nanwatch {
namespace {

ToldIncident Told(const char* run, Family family, int rule, int64_t opened,
                  std::optional<int64_t> resolved, const char* op = "") {
  ToldIncident told;
  told.run = {run, 0};
  told.incident.family = family;
  told.incident.rule = RuleIdOf(rule);
  told.incident.opened_step = opened;
  told.incident.resolved_step = resolved;
  told.incident.subject.op = op;
  told.told_step = opened;
  return told;
}

// Pairs as (index before, index after), -1 for none.
std::vector<std::pair<int, int>> Match(const std::vector<ToldIncident>& before,
                                       const std::vector<ToldIncident>& after) {
  std::vector<std::pair<int, int>> found;
  for (const IncidentPair& pair : MatchIncidents(before, after)) {
    found.emplace_back(
        pair.before == nullptr ? -1
                               : static_cast<int>(pair.before - before.data()),
        pair.after == nullptr ? -1
                              : static_cast<int>(pair.after - after.data()));
  }
  return found;
}

using Pairs = std::vector<std::pair<int, int>>;

TEST(IncidentMatchTest, TheSameTroubleBeginsEarlierOrLater) {
  EXPECT_EQ(Match({Told("a", Family::kScale, 5, 100, 150)},
                  {Told("a", Family::kScale, 5, 90, 160)}),
            (Pairs{{0, 0}}));
}

TEST(IncidentMatchTest, TroubleFarApartIsAnother) {
  EXPECT_EQ(Match({Told("a", Family::kScale, 5, 100, 150)},
                  {Told("a", Family::kScale, 5, 201, 250)}),
            (Pairs{{0, -1}, {-1, 0}}));
  EXPECT_EQ(Match({Told("a", Family::kScale, 5, 100, 150)},
                  {Told("a", Family::kScale, 5, 200, 250)}),
            (Pairs{{0, 0}}));
}

TEST(IncidentMatchTest, OfAnotherRunOrFamilyItIsNeverTheSame) {
  EXPECT_EQ(Match({Told("a", Family::kScale, 5, 100, {})},
                  {Told("b", Family::kScale, 5, 100, {}),
                   Told("a", Family::kLoss, 34, 100, {})}),
            (Pairs{{0, -1}, {-1, 1}, {-1, 0}}));
}

TEST(IncidentMatchTest, TheSameRuleAndSubjectComeFirst) {
  using testing::Pair;
  using testing::UnorderedElementsAre;
  // An incident may be named after another of its findings.
  EXPECT_THAT(Match({Told("a", Family::kOp, 20, 100, {}, "fc1"),
                     Told("a", Family::kOp, 18, 100, {}, "fc2")},
                    {Told("a", Family::kOp, 18, 100, {}, "fc1"),
                     Told("a", Family::kOp, 18, 100, {}, "fc2")}),
              UnorderedElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(Match({Told("a", Family::kOp, 18, 100, {}, "fc1")},
                    {Told("a", Family::kOp, 18, 100, {}, "fc2"),
                     Told("a", Family::kOp, 18, 130, {}, "fc1")}),
              UnorderedElementsAre(Pair(-1, 0), Pair(0, 1)));
}

TEST(IncidentMatchTest, OfSeveralTheNearestIsTaken) {
  EXPECT_EQ(Match({Told("a", Family::kScale, 5, 100, 110),
                   Told("a", Family::kScale, 5, 140, 150)},
                  {Told("a", Family::kScale, 5, 139, 150)}),
            (Pairs{{0, -1}, {1, 0}}));
}

TEST(IncidentMatchTest, NothingMatchesNothing) {
  EXPECT_TRUE(MatchIncidents({}, {}).empty());
}

}  // namespace
}  // namespace nanwatch
