#include "engine/op_ledger.h"

#include <gmock/gmock.h>

#include <span>
#include <string>
#include <vector>

#include "model/limits.h"

namespace nanwatch {
namespace {

PendingOp Bad(int64_t step, uint64_t inf) {
  PendingOp op;
  op.status.step = step;
  op.status.elements = 1008;
  op.status.count[static_cast<int>(OpCount::kPosInf)] = inf;
  op.bad_elements = inf;
  op.bad = op.interesting = inf > 0;
  return op;
}
OpName Named(const std::string& name, int32_t order = 0) {
  return {.name = name,
          .logical_shape = {1000},
          .storage_shape = {1008},
          .order = order};
}
int64_t Updates(int32_t) { return 10; }

TEST(OpLedgerTest, TheFirstCauseComesFirst) {
  OpLedger ledger;
  ledger.Add(Bad(5, 1), Named("late", 1), 0, {.number = 5}, false);
  ledger.Add(Bad(3, 1), Named("b", 9), 0, {.number = 3}, false);
  ledger.Add(Bad(3, 1), Named("a", 2), 0, {.number = 3}, false);
  const auto ops = ledger.Evidence(Updates);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].op.name, "a");
  EXPECT_EQ(ops[1].op.name, "b");
  EXPECT_EQ(ops[2].op.name, "late");
}

TEST(OpLedgerTest, InATableAnOriginStandsAboveItsVictims) {
  OpLedger ledger;
  ledger.Add(Bad(2, 1), Named("masked", 1), 0, {.number = 2}, false);
  ledger.Add(Bad(5, 1), Named("origin", 3), 0, {.number = 5}, false);
  for (int64_t step = 5; step < 9; ++step) {
    ledger.Add(Bad(step, 1), Named("victim", 4), 0, {.number = step}, false);
  }
  const auto names = [&](std::span<const CauseVerdict> causes) {
    std::vector<std::string> all;
    for (const OpView& op : ledger.Top(causes)) all.push_back(op.name);
    return all;
  };
  EXPECT_THAT(names({}), testing::ElementsAre("masked", "origin", "victim"));
  CauseVerdict cause;
  cause.origin.op = "origin";
  cause.origin.slot = ledger.Evidence(Updates)[1].slot;
  EXPECT_THAT(names(std::span(&cause, 1)),
              testing::ElementsAre("origin", "masked", "victim"));
}

TEST(OpLedgerTest, OrderOfRanksDoesNotShow) {
  OpLedger one, other;
  one.Add(Bad(4, 2), Named("log"), 1, {.number = 4, .scale = 8.0}, false);
  one.Add(Bad(3, 7), Named("log"), 0, {.number = 3, .scale = 2.0}, false);
  other.Add(Bad(3, 7), Named("log"), 0, {.number = 3, .scale = 2.0}, false);
  other.Add(Bad(4, 2), Named("log"), 1, {.number = 4, .scale = 8.0}, false);
  for (const OpLedger* ledger : {&one, &other}) {
    const OpEvidence e = ledger->Evidence(Updates).at(0);
    EXPECT_EQ(e.rank, 0);
    EXPECT_EQ(e.first_bad_step, 3);
    EXPECT_EQ(e.last_bad_step, 4);
    EXPECT_EQ(e.bad_elements_max, 7u);
    EXPECT_EQ(e.scale_min, 2.0);
    EXPECT_EQ(e.scale_max, 8.0);
    EXPECT_EQ(e.bad_updates, 1u);
    EXPECT_EQ(e.updates, 8u) << "of the lowest of those with as many";
    EXPECT_EQ(ledger->Top({}).at(0).bad_elements, 2u);
  }
}

TEST(OpLedgerTest, UpdatesAreThoseOfTheRankThatHasMost) {
  using Outcome = OpUpdate::Outcome;
  OpLedger ledger;
  ledger.Add(Bad(3, 1), Named("log"), 0,
             {.number = 3, .outcome = Outcome::kFine}, false);
  for (int64_t step = 4; step < 8; ++step) {
    const OpUpdate update{
        .number = step,
        .outcome = step < 5 ? Outcome::kFine : Outcome::kHarmed};
    ledger.Add(Bad(step, 1), Named("log"), 1, update, false);
    ledger.Add(Bad(step, 1), Named("log"), 1, update, false);
  }
  const OpEvidence e = ledger.Evidence(Updates).at(0);
  EXPECT_EQ(e.bad_updates, 4u);
  EXPECT_EQ(e.updates, 7u);
  EXPECT_EQ(e.outcomes.fine, 2u) << "of both ranks";
  EXPECT_EQ(e.outcomes.harmed, 3u);
  EXPECT_EQ(e.outcomes_of_worst.fine, 1u);
  EXPECT_EQ(e.outcomes_of_worst.harmed, 3u);
  EXPECT_EQ(e.fine_steps, 2u);
}

TEST(OpLedgerTest, OneThatFaresWellDoesNotHideOneThatDoesNot) {
  using Outcome = OpUpdate::Outcome;
  OpLedger ledger;
  for (int64_t step = 1; step <= 200; ++step) {
    const auto outcome = step <= 100 ? Outcome::kFine : Outcome::kHarmed;
    const OpUpdate update{.number = step, .outcome = outcome};
    ledger.Add(Bad(step, 1), Named("log"), 0, update, false);
    if (step <= 100) continue;
    ledger.Add(Bad(step, 1), Named("log"), 1, update, false);
  }
  const OpEvidence e = ledger.Evidence(Updates).at(0);
  EXPECT_EQ(e.outcomes_of_worst.fine, 0u) << "as many are harmed of the other";
  EXPECT_EQ(e.outcomes_of_worst.harmed, 100u);
  EXPECT_EQ(e.fine_steps, 100u);
}

TEST(OpLedgerTest, TheNewestAreLookedAtAlone) {
  using Outcome = OpUpdate::Outcome;
  OpLedger ledger;
  for (int64_t step = 1; step <= 1010; ++step) {
    const auto outcome = step <= 1000 ? Outcome::kFine : Outcome::kHarmed;
    ledger.Add(Bad(step, 1), Named("log"), 0,
               {.number = step, .outcome = outcome}, false);
  }
  const OpEvidence e = ledger.Evidence(Updates).at(0);
  EXPECT_EQ(e.outcomes_of_worst.fine, 1000u);
  EXPECT_EQ(e.newest_of_worst.fine, 54u);
  EXPECT_EQ(e.newest_of_worst.harmed, 10u);
}

TEST(OpLedgerTest, AFineStepCountsOnceInWhateverOrderRanksCome) {
  OpLedger ledger;
  for (const int32_t rank : {0, 1}) {
    for (const int64_t step : {1 + rank, 3 + rank, 5}) {
      ledger.Add(Bad(step, 1), Named("log"), rank,
                 {.number = step, .outcome = OpUpdate::Outcome::kFine}, false);
    }
  }
  EXPECT_EQ(ledger.Evidence(Updates).at(0).fine_steps, 5u);
}

TEST(OpLedgerTest, KnowsTheLogicalRegionFromThePadding) {
  OpLedger ledger;
  ledger.Add(Bad(1, 8), Named("log"), 0, {.number = 1}, false);
  PendingOp logical = Bad(1, 0);
  logical.status.elements = 1000;
  EXPECT_TRUE(ledger.Add(logical, Named("log"), 0, {.number = 1}, false));
  OpEvidence e = ledger.Evidence(Updates).at(0);
  EXPECT_EQ(e.padding, 8u);
  EXPECT_EQ(e.logical_statuses, 1u);
  EXPECT_EQ(e.logical_bad, 0u);
  logical = Bad(2, 1);
  logical.status.elements = 1000;
  EXPECT_TRUE(ledger.Add(logical, Named("log"), 0, {.number = 2}, false));
  e = ledger.Evidence(Updates).at(0);
  EXPECT_EQ(e.logical_bad, 1u);
}

TEST(OpLedgerTest, WithoutTheCountASaturatingDeviceProvesNothing) {
  OpLedger ledger;
  ledger.Add(Bad(1, 8), Named("log"), 0, {.number = 1}, true);
  PendingOp logical = Bad(1, 0);
  logical.status.elements = 1000;
  ledger.Add(logical, Named("log"), 0, {.number = 1}, true);
  EXPECT_EQ(ledger.Evidence(Updates).at(0).logical_statuses, 0u);
}

TEST(OpLedgerTest, WhatMayHaveBeenAppliedIsToldFromWhatWasLeftOut) {
  OpLedger ledger;
  ledger.Add(Bad(3, 1), Named("a"), 0, {.number = 1, .lost = true}, false);
  EXPECT_EQ(ledger.Evidence(Updates).at(0).first_kept_step, -1);
  EXPECT_TRUE(ledger.Add(Bad(7, 1), Named("a"), 0, {.number = 2}, false))
      << "news";
  ledger.Add(Bad(5, 1), Named("a"), 1, {.number = 1}, false);
  ledger.Add(Bad(4, 1), Named("a"), 1, {.number = 1, .lost = true}, false);
  const OpEvidence a = ledger.Evidence(Updates).at(0);
  EXPECT_EQ(a.first_kept_step, 5);
  EXPECT_EQ(a.kept_nan, 0u);
  EXPECT_EQ(a.first_bad_step, 3);
}

// So many gradients of one overflow, at `step`; `lost`: their update.
void Fill(OpLedger* ledger, int64_t step, bool lost = true) {
  PendingOp gradient = Bad(step, 10);
  gradient.status.slot = Slot::kGradInput;
  for (int i = 0; i < limits::kOpEvidence; ++i) {
    ledger->Add(gradient, Named("w" + std::to_string(i), 1000 + i), 0,
                {.lost = lost}, false);
  }
}

TEST(OpLedgerTest, GradientsGiveWayToTheForwardPass) {
  OpLedger ledger;
  Fill(&ledger, 3);
  ledger.Add(Bad(4, 1), Named("log", 7), 0, {.number = 4}, false);
  const auto ops = ledger.Evidence(Updates);
  EXPECT_EQ(ops.size(), static_cast<size_t>(limits::kOpEvidence));
  EXPECT_EQ(ops.back().op.name, "log");
  EXPECT_FALSE(ledger.Lists(Named("w63"), Slot::kGradInput)) << "the last";
  EXPECT_TRUE(ledger.Lists(Named("w62"), Slot::kGradInput));
}

TEST(OpLedgerTest, GradientsThatWereAppliedStay) {
  OpLedger ledger;
  Fill(&ledger, 3, /*lost=*/false);
  ledger.Add(Bad(4, 1), Named("spoilt weight"), 0, {.number = 4}, false);
  ledger.Add(Bad(400, 1), Named("spoilt weight"), 0, {.number = 400}, false);
  EXPECT_FALSE(ledger.Lists(Named("spoilt weight"), Slot::kOutput));
}

TEST(OpLedgerTest, WhatIsOverGivesWayToWhatIsBadNow) {
  OpLedger ledger;
  Fill(&ledger, 3);
  PendingOp gradient = Bad(23, 10);
  gradient.status.slot = Slot::kGradInput;
  const OpName name = Named("other", 2000);
  ledger.Add(gradient, name, 0, {.number = 23}, false);
  EXPECT_FALSE(ledger.Lists(name, Slot::kGradInput));
  gradient.status.step = 24;
  ledger.Add(gradient, name, 0, {.number = 24}, false);
  EXPECT_TRUE(ledger.Lists(name, Slot::kGradInput));
}

TEST(OpLedgerTest, TheEarliestStayWhenThereAreTooMany) {
  OpLedger ledger;
  for (int i = 0; i < limits::kOpEvidence + 5; ++i) {
    ledger.Add(Bad(100 - i, 1), Named("op" + std::to_string(i)), 0,
               {.number = 1}, false);
  }
  const auto ops = ledger.Evidence(Updates);
  ASSERT_EQ(ops.size(), static_cast<size_t>(limits::kOpEvidence));
  EXPECT_EQ(ops[0].first_bad_step, 100 - (limits::kOpEvidence + 4));
}

}  // namespace
}  // namespace nanwatch
