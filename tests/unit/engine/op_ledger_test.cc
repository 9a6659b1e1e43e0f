#include "engine/op_ledger.h"

#include <gmock/gmock.h>

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
int64_t Attempts(int32_t) { return 10; }

TEST(OpLedgerTest, TheFirstCauseComesFirst) {
  OpLedger ledger;
  ledger.Add(Bad(5, 1), Named("late", 1), 0, 5, {}, false, false);
  ledger.Add(Bad(3, 1), Named("b", 9), 0, 3, {}, false, false);
  ledger.Add(Bad(3, 1), Named("a", 2), 0, 3, {}, false, false);
  const auto ops = ledger.Evidence(Attempts);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].op.name, "a");
  EXPECT_EQ(ops[1].op.name, "b");
  EXPECT_EQ(ops[2].op.name, "late");
}

TEST(OpLedgerTest, OrderOfRanksDoesNotShow) {
  OpLedger one, other;
  one.Add(Bad(4, 2), Named("log"), 1, 4, 8.0, false, false);
  one.Add(Bad(3, 7), Named("log"), 0, 3, 2.0, false, false);
  other.Add(Bad(3, 7), Named("log"), 0, 3, 2.0, false, false);
  other.Add(Bad(4, 2), Named("log"), 1, 4, 8.0, false, false);
  for (const OpLedger* ledger : {&one, &other}) {
    const OpEvidence e = ledger->Evidence(Attempts).at(0);
    EXPECT_EQ(e.rank, 0);
    EXPECT_EQ(e.first_bad_step, 3);
    EXPECT_EQ(e.last_bad_step, 4);
    EXPECT_EQ(e.bad_elements_max, 7u);
    EXPECT_EQ(e.scale_min, 2.0);
    EXPECT_EQ(e.scale_max, 8.0);
    EXPECT_EQ(e.bad_attempts, 2u);
    EXPECT_EQ(e.attempts, 8u + 7u);
    EXPECT_EQ(ledger->Top().at(0).bad_elements, 2u);
  }
}

TEST(OpLedgerTest, KnowsTheLogicalRegionFromThePadding) {
  OpLedger ledger;
  ledger.Add(Bad(1, 8), Named("log"), 0, 1, {}, false, false);
  PendingOp logical = Bad(1, 0);
  logical.status.elements = 1000;
  EXPECT_TRUE(ledger.Add(logical, Named("log"), 0, 1, {}, false, false));
  OpEvidence e = ledger.Evidence(Attempts).at(0);
  EXPECT_EQ(e.padding, 8u);
  EXPECT_EQ(e.logical_statuses, 1u);
  EXPECT_EQ(e.logical_bad, 0u);
  logical = Bad(2, 1);
  logical.status.elements = 1000;
  EXPECT_TRUE(ledger.Add(logical, Named("log"), 0, 2, {}, false, false));
  e = ledger.Evidence(Attempts).at(0);
  EXPECT_EQ(e.logical_bad, 1u);
}

TEST(OpLedgerTest, WithoutTheCountASaturatingDeviceProvesNothing) {
  OpLedger ledger;
  ledger.Add(Bad(1, 8), Named("log"), 0, 1, {}, false, true);
  PendingOp logical = Bad(1, 0);
  logical.status.elements = 1000;
  ledger.Add(logical, Named("log"), 0, 1, {}, false, true);
  EXPECT_EQ(ledger.Evidence(Attempts).at(0).logical_statuses, 0u);
}

TEST(OpLedgerTest, WhatMayHaveBeenAppliedIsToldFromWhatWasLeftOut) {
  OpLedger ledger;
  ledger.Add(Bad(3, 1), Named("a"), 0, 1, {}, true, false);
  EXPECT_EQ(ledger.Evidence(Attempts).at(0).first_kept_step, -1);
  EXPECT_TRUE(ledger.Add(Bad(7, 1), Named("a"), 0, 2, {}, false, false))
      << "news";
  ledger.Add(Bad(5, 1), Named("a"), 1, 1, {}, false, false);
  ledger.Add(Bad(4, 1), Named("a"), 1, 1, {}, true, false);
  const OpEvidence a = ledger.Evidence(Attempts).at(0);
  EXPECT_EQ(a.first_kept_step, 5);
  EXPECT_EQ(a.kept_nan, 0u);
  EXPECT_EQ(a.first_bad_step, 3);
}

TEST(OpLedgerTest, TheEarliestStayWhenThereAreTooMany) {
  OpLedger ledger;
  for (int i = 0; i < limits::kOpEvidence + 5; ++i) {
    ledger.Add(Bad(100 - i, 1), Named("op" + std::to_string(i)), 0, 1, {},
               false, false);
  }
  const auto ops = ledger.Evidence(Attempts);
  ASSERT_EQ(ops.size(), static_cast<size_t>(limits::kOpEvidence));
  EXPECT_EQ(ops[0].first_bad_step, 100 - (limits::kOpEvidence + 4));
}

}  // namespace
}  // namespace nanwatch
