#include "engine/op_trends.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <random>

#include "engine/op_watch.h"
#include "model/limits.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

OpCell Cell(int64_t step, uint32_t op, Slot slot, float abs_max) {
  OpCell cell{.step = step, .op = op, .slot = slot};
  cell.abs_max = abs_max;
  return cell;
}
void Set(OpCell* cell, OpStat stat, float value) {
  cell->more[static_cast<int>(stat)] = value;
}

class OpTrendsTest : public ::testing::Test {
 protected:
  void Take(const std::vector<OpCell>& cells) {
    watch_.Take(OpRows(cells, kStart), false, INT64_MIN, &marks_);
  }
  OpWatch watch_;
  RowMarks marks_;
};

TEST_F(OpTrendsTest, AStepWithoutStatusesIsNotCollected) {
  watch_.AddName(0, Dtype::kFp16, 0);
  EXPECT_FALSE(watch_.All(1).collected);
  Take({Cell(1, 0, Slot::kOutput, 1), Cell(3, 0, Slot::kOutput, 1)});
  EXPECT_TRUE(watch_.All(1).collected);
  EXPECT_EQ(watch_.All(1).gradients, nullptr) << "no gradient";
  EXPECT_FALSE(watch_.All(2).collected);
  EXPECT_TRUE(watch_.All(3).collected);
  EXPECT_FALSE(watch_.All(1).collected) << "what is judged is forgotten";
}

TEST_F(OpTrendsTest, GradientsInFp16AreSummedByStep) {
  watch_.AddName(0, Dtype::kFp16, 0);
  watch_.AddName(1, Dtype::kFp16, 5);
  watch_.AddName(2, Dtype::kFp32, 9);
  std::vector<OpCell> cells;
  for (int64_t step = 1; step <= 2; ++step) {
    for (uint32_t op = 0; op < 3; ++op) {
      OpCell cell = Cell(step, op, Slot::kGradOutput, 4.0f * step);
      cell.elements = 100;
      cell.zero = 10 * op;
      Set(&cell, OpStat::kRms, 0.5f + static_cast<float>(op));
      Set(&cell, OpStat::kLog2Mean, -3);
      Set(&cell, OpStat::kLog2Std, 4);
      cells.push_back(cell);
    }
  }
  Take(cells);
  const StepGradients* g = watch_.All(1).gradients;
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->range.tensors(), 2u);
  EXPECT_EQ(g->range.bounded(), 2u);
  EXPECT_EQ(g->range.elements(), 200u);
  EXPECT_EQ(g->range.zeros(), 10u);
  EXPECT_THAT(g->range.headroom(), Optional(DoubleNear(14, 0.01)));
  EXPECT_EQ(g->first_order, 0);
  EXPECT_EQ(g->last_order, 9) << "of whatever dtype";
  EXPECT_EQ(g->first_rms, 0.5f);
  EXPECT_EQ(g->last_rms, 2.5f);
  EXPECT_THAT(watch_.All(2).gradients->range.headroom(),
              Optional(DoubleNear(13, 0.01)));
}

// A ReLU's output is 0 where the gradient of its input is: that is no loss, and
// neither is what the layer before hears of it.
TEST_F(OpTrendsTest, ZerosOfAMaskAreNotTheGradientsOwn) {
  for (uint32_t op = 0; op < 4; ++op) {
    watch_.AddName(op, Dtype::kFp16, static_cast<int32_t>(op));
  }
  const auto cell = [](uint32_t op, Slot slot, uint64_t zeros) {
    OpCell one = Cell(1, op, slot, 4);
    one.elements = 100;
    one.zero = zeros;
    Set(&one, OpStat::kRms, 1);
    return one;
  };
  const std::vector<OpCell> cells = {
      cell(0, Slot::kOutput, 60),         // the ReLU
      cell(1, Slot::kOutput, 7),          // of another name
      cell(2, Slot::kGradInput, 63),      // of the ReLU: 3 are its own
      cell(3, Slot::kGradOutput, 62),     // of the layer before: 2
      cell(3, Slot::kGradInput, 50)};     // nothing is known of its output
  const uint64_t names[] = {7, 8, 7, 9};  // hashes; two are one
  watch_.Take(OpRows(cells, kStart), false, INT64_MIN, &marks_, names);
  const StepGradients* g = watch_.All(1).gradients;
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->range.elements(), 300u);
  EXPECT_EQ(g->range.zeros(), 3u + 2u + 50u);
}

TEST_F(OpTrendsTest, ExponentsGoBeforeMoments) {
  watch_.AddName(0, Dtype::kFp16, 0);
  OpCell cell = Cell(1, 0, Slot::kGradInput, 1);
  Set(&cell, OpStat::kLog2Mean, -3);
  Set(&cell, OpStat::kLog2Std, 4);
  OpColumns columns = OpRows({cell, cell}, kStart);
  columns.exponents.push_back({.row = 1, .first = -10, .counts = {5, 1000}});
  watch_.Take(columns, false, INT64_MIN, &marks_);
  const StepGradients* g = watch_.All(1).gradients;
  ASSERT_NE(g, nullptr);
  // -24 + 10: five in a thousand are too many to lose.
  EXPECT_EQ(g->range.Losing(-14), 1u) << "the moments' tensor";
  EXPECT_EQ(g->range.Losing(-15), 2u);
}

TEST_F(OpTrendsTest, GradientsThatBecomeZeroAreNews) {
  for (uint32_t op = 0; op < 3; ++op) watch_.AddName(op, Dtype::kFp32, 9 - op);
  const auto take = [&](int64_t step, std::vector<float> rms) {
    std::vector<OpCell> cells;
    for (uint32_t op = 0; op < rms.size(); ++op) {
      cells.push_back(Cell(step, op, Slot::kGradInput, rms[op]));
      Set(&cells.back(), OpStat::kRms, rms[op]);
    }
    Take(cells);
    const StepGradients* g = watch_.All(step).gradients;
    return g == nullptr ? std::pair(-1, 0u)
                        : std::pair(g->zeroed, g->zeroed_more);
  };
  const std::pair<int32_t, uint32_t> none(-1, 0);
  EXPECT_EQ(take(1, {0, 1, 1}), none) << "it begins so";
  EXPECT_EQ(take(2, {0, 1, 1}), none);
  EXPECT_EQ(take(3, {0, 0, 0}), std::pair(1, 1u)) << "the first that came";
  EXPECT_EQ(take(4, {0, 0, 0}), none) << "no news";
  EXPECT_EQ(take(5, {1, 1, 0}), none);
  EXPECT_EQ(take(6, {0, 1, 0}), std::pair(0, 0u));
}

TEST_F(OpTrendsTest, WeightsOfAStepAreKnownWithoutOneOfThem) {
  for (uint32_t op = 0; op < 3; ++op) watch_.AddName(op, Dtype::kFp32);
  EXPECT_EQ(watch_.OtherWeights(7, 0), -1) << "none came";
  Take({Cell(7, 0, Slot::kParameter, 2), Cell(7, 1, Slot::kParameter, 5),
        Cell(7, 1, Slot::kGradInput, 9), Cell(7, 2, Slot::kParameter, 3)});
  EXPECT_EQ(watch_.OtherWeights(7, 0), 5);
  EXPECT_EQ(watch_.OtherWeights(7, 1), 3);
  EXPECT_EQ(watch_.OtherWeights(7, 2), 5);
  EXPECT_EQ(watch_.OtherWeights(6, 0), -1);
  Take({Cell(8, 2, Slot::kParameter, 1)});
  EXPECT_EQ(watch_.OtherWeights(8, 2), -1) << "it is the only one";
  EXPECT_EQ(watch_.OtherWeights(7, 1), 3) << "its record may come later";
  for (int64_t step = 9; step < 24; ++step) {
    Take({Cell(step, 2, Slot::kParameter, 1)});
  }
  EXPECT_EQ(watch_.OtherWeights(7, 1), -1) << "forgotten";
  EXPECT_EQ(watch_.OtherWeights(8, 0), 1);
}

TEST_F(OpTrendsTest, AWildWeightIsKeptOnceItWasOrdinary) {
  watch_.AddName(0, Dtype::kFp32);
  watch_.AddName(1, Dtype::kFp32);
  Take({Cell(1, 0, Slot::kParameter, 1), Cell(1, 1, Slot::kParameter, 1e30f)});
  EXPECT_FALSE(watch_.pending());
  Take({Cell(2, 0, Slot::kParameter, 1e30f),
        Cell(2, 1, Slot::kParameter, 1e30f)});
  ASSERT_EQ(watch_.UpTo(2).size(), 1u) << "the other one began so";
  EXPECT_EQ(watch_.oldest().status.op, 0u);
  EXPECT_TRUE(watch_.oldest().interesting);
  EXPECT_EQ(watch_.oldest().trend.weight_before, 1);
}

TEST_F(OpTrendsTest, HowRowsAreCutIntoBatchesDoesNotShow) {
  std::mt19937 engine(3);
  std::vector<OpCell> cells;
  for (int64_t step = 1; step <= 40; ++step) {
    for (uint32_t op = 0; op < 4; ++op) {
      OpCell cell =
          Cell(step, op, engine() % 2 == 0 ? Slot::kGradOutput : Slot::kOutput,
               1 + static_cast<float>(engine() % 50));
      cell.zero = engine() % 100;
      Set(&cell, OpStat::kRms, 1 + static_cast<float>(engine() % 9));
      if (op == 3) {
        Set(&cell, OpStat::kFp8ScaleInv, 1 + static_cast<float>(engine() % 6));
      }
      cells.push_back(cell);
    }
  }
  OpWatch whole;
  OpWatch cut;
  for (OpWatch* watch : {&whole, &cut}) {
    for (int op = 0; op < 3; ++op) watch->AddName(op, Dtype::kFp16, op);
    watch->AddName(3, Dtype::kFp8E4M3, 3);
  }
  whole.Take(OpRows(cells, kStart), false, INT64_MIN, &marks_);
  for (size_t at = 0; at < cells.size();) {
    const size_t n = std::min(cells.size() - at, 1 + engine() % 7);
    cut.Take(OpRows({cells.begin() + at, cells.begin() + at + n}, kStart),
             false, INT64_MIN, &marks_);
    at += n;
  }
  for (int64_t step = 1; step <= 40; ++step) {
    const auto a = whole.All(step);
    const auto b = cut.All(step);
    ASSERT_EQ(a.collected, b.collected);
    ASSERT_EQ(a.gradients == nullptr, b.gradients == nullptr) << step;
    if (a.gradients == nullptr) continue;
    EXPECT_EQ(a.gradients->range.zeros(), b.gradients->range.zeros());
    EXPECT_EQ(a.gradients->range.headroom(), b.gradients->range.headroom());
    EXPECT_EQ(a.gradients->first_rms, b.gradients->first_rms);
  }
  ASSERT_EQ(whole.UpTo(40).size(), cut.UpTo(40).size());
  EXPECT_GT(whole.UpTo(40).size(), 0u);
}

TEST_F(OpTrendsTest, WaitingSumsAreBounded) {
  watch_.AddName(0, Dtype::kFp16, 0);
  for (int64_t step = 1; step <= 3 * limits::kStepSums; ++step) {
    Take({Cell(step, 0, Slot::kGradOutput, 1)});
  }
  EXPECT_FALSE(watch_.All(1).collected);
  EXPECT_TRUE(watch_.All(3 * limits::kStepSums - 10).collected);
}

// --- what is kept for a look -------------------------------------------------

TEST_F(OpTrendsTest, AnOutputFarAboveItsInputIsKeptOnceTheOpIsKnown) {
  watch_.AddName(0, Dtype::kFp16, 0);
  watch_.AddName(1, Dtype::kFp16, 1);
  for (int64_t step = 1; step <= 20; ++step) {
    Take({Cell(step, 0, Slot::kInput, 1), Cell(step, 0, Slot::kOutput, 50),
          Cell(step, 1, Slot::kInput, 1), Cell(step, 1, Slot::kOutput, 500)});
  }
  EXPECT_FALSE(watch_.pending()) << "the second one always amplifies";
  Take({Cell(21, 0, Slot::kInput, 1), Cell(21, 0, Slot::kOutput, 500)});
  ASSERT_TRUE(watch_.pending());
  EXPECT_EQ(watch_.oldest().status.slot, Slot::kOutput);
  EXPECT_TRUE(watch_.oldest().interesting);
  EXPECT_FALSE(watch_.oldest().bad);
  EXPECT_EQ(watch_.oldest().trend.input_abs_max, 1);
}

TEST_F(OpTrendsTest, WithoutAnInputNothingIsSaid) {
  watch_.AddName(0, Dtype::kFp16, 0);
  for (int64_t step = 1; step <= 40; ++step) {
    Take({Cell(step, 0, Slot::kOutput, step < 30 ? 1 : 20000)});
  }
  EXPECT_FALSE(watch_.pending());
}

OpCell Fp8(int64_t step, float inv, uint64_t zero) {
  OpCell cell = Cell(step, 0, Slot::kInput, 448);
  cell.elements = 1000;
  cell.zero = zero;
  Set(&cell, OpStat::kFp8ScaleInv, inv);
  Set(&cell, OpStat::kFp8Amax, 440 * inv);
  return cell;
}

TEST_F(OpTrendsTest, HealthyFp8LeavesNothing) {
  watch_.AddName(0, Dtype::kFp8E4M3, 0);
  for (int64_t step = 1; step <= 200; ++step) {
    Take({Fp8(step, step % 2 == 0 ? 0.01f : 0.03f, 480 + step % 30)});
  }
  EXPECT_FALSE(watch_.pending());
}

TEST_F(OpTrendsTest, Fp8JumpsClipsAndZerosAreKept) {
  const auto kept = [&](const OpCell& odd) {
    OpWatch watch;
    watch.AddName(0, Dtype::kFp8E4M3, 0);
    for (int64_t step = 1; step <= 20; ++step) {
      watch.Take(OpRows({Fp8(step, 0.01f, 500)}, kStart), false, INT64_MIN,
                 &marks_);
    }
    EXPECT_FALSE(watch.pending());
    watch.Take(OpRows({odd}, kStart), false, INT64_MIN, &marks_);
    return watch.pending() ? std::optional(watch.oldest().trend) : std::nullopt;
  };
  EXPECT_EQ(kept(Fp8(21, 0.03f, 500)), std::nullopt);
  const auto jump = kept(Fp8(21, 0.05f, 500));
  ASSERT_TRUE(jump);
  EXPECT_EQ(jump->scale_inv_before, 0.01f);
  const auto zeros = kept(Fp8(21, 0.01f, 560));
  ASSERT_TRUE(zeros);
  EXPECT_NEAR(zeros->usual_zeros, 0.5, 1e-5);
  OpCell clipped = Fp8(21, 0.01f, 500);
  clipped.saturated = 2;
  EXPECT_TRUE(kept(clipped));
  clipped.saturated = 1;
  EXPECT_FALSE(kept(clipped));
  Set(&clipped, OpStat::kFp8Amax, 9);
  EXPECT_TRUE(kept(clipped));
}

// The usual share against its definition, over every status of a tensor.
TEST_F(OpTrendsTest, UsualZerosAreThoseOfTheWholeHistory) {
  std::mt19937 engine(9);
  OpTrends trends;
  std::map<uint32_t, std::vector<double>> learnt;
  for (int64_t step = 1; step <= 300; ++step) {
    std::vector<OpCell> cells;
    for (uint32_t op = 0; op < 5; ++op) {
      if (engine() % 7 == 0) continue;  // not sampled
      OpCell cell = Fp8(step, 1, 100 * op + engine() % 40);
      cell.op = op;
      cells.push_back(cell);
    }
    const OpColumns columns = OpRows(cells, kStart);
    trends.NextStep(step);
    SparseRows sparse(columns);
    for (size_t row = 0; row < cells.size(); ++row) {
      OpTrend trend;
      trends.AddFp8(columns, row, Dtype::kFp8E4M3, &sparse, &trend);
      std::vector<double>& all = learnt[cells[row].op];
      double usual = 0;
      for (size_t k = 0; k < all.size(); ++k) {
        usual += (all[k] - usual) / (k < 16 ? static_cast<double>(k + 1) : 64);
      }
      if (all.size() >= 16) {
        ASSERT_NEAR(trend.usual_zeros, usual, 1e-4) << step;
      } else {
        ASSERT_EQ(trend.usual_zeros, -1);
      }
      all.push_back(static_cast<double>(*cells[row].zero) / 1000);
    }
  }
}

}  // namespace
}  // namespace nanwatch
