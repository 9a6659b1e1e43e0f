#include "compare/step_walk.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/floors.h"
#include "compare/lower_excess.h"
#include "compare/unordered_walk.h"

namespace nanwatch {
namespace {

// In fp32: farther apart than this many times what was found before it in the
// walk is not what an op makes of its inputs' noise. Measured: healthy pairs of
// other summation order reach 16 times the floor of another pair at most, a
// wrong epsilon 330 times.
constexpr double kJump = 32;
// Roundings in fp32 are of so many halves of a last bit, growing as the root of
// the layers before. Ours, an estimate.
constexpr double kRoundings = 4;
// Of a pass that could not be compared, whose batch was computed in parts:
// measured, a tenth of this.
constexpr double kUnseenRoundings = 64;
// After updates weights have parted as far as the noise made them: only what
// differs plainly is told.
constexpr double kLeastLater = 0.02;

// How far the tensors lie apart that were walked through, in fp32.
class Noise {
 public:
  explicit Noise(double least) : least_(least) {}

  // What is usual of the next one, at most.
  double FloorOf(const TensorPair& pair) const {
    const double depth = static_cast<double>(count_) / kOpsALayer;
    const double own = (missed_ ? kUnseenRoundings : kRoundings) *
                       pair.epsilon * std::sqrt(1 + depth);
    return std::max({kOfRepeats * pair.usual, least_, own, kJump * most_});
  }
  void Add(const TensorPair& pair, double distance) {
    ++count_;
    // Statistics show a part of what it adds.
    missed_ = missed_ || (pair.by_statistics && distance > 0);
    most_ = std::max(most_, distance);
  }
  // One that could not be compared: what it adds is not seen.
  void Miss() { missed_ = true; }
  double most() const { return most_; }

 private:
  const double least_;
  bool missed_ = false;
  size_t count_ = 0;
  double most_ = 0;
};

// Weights and data that a run reads must be equal: a weight in another format
// is rounded, once.
bool IsOther(const TensorPair& pair) {
  if (pair.equal) return false;
  if (pair.other_shape || !pair.distance) return true;
  if (*pair.distance <= kOfRepeats * pair.usual) return false;
  const bool formats = pair.op->dtype != Dtype::kUnknown &&
                       pair.epsilon > EpsilonOf(pair.op->dtype);
  return !formats || *pair.distance > kRoundings * pair.epsilon;
}

// Judges the pairs of a step, one after another.
class PairJudge {
 public:
  PairJudge(const StepAndNear& near, const WalkStart& start)
      : weights_tell_(start.fresh || start.same_before), noise_(Least()) {
    if (near.step().epsilon > kFp32) excesses_ = LowerExcesses(near);
  }

  // `i`: its index. Call with each, rising.
  WalkedPair Next(const TensorPair& pair, size_t i) {
    if (pair.equal) {
      noise_.Add(pair, 0);
      return {Standing::kEqual};
    }
    if (pair.other_specials) return Differs({Standing::kBeyond});
    return pair.phase <= Phase::kBatch ? OfRead(pair)
                                       : OfComputed(pair, FloorOf(pair, i));
  }
  bool other_layout() const { return other_layout_; }
  double noise() const { return noise_.most(); }

 private:
  double Least() const { return weights_tell_ ? 0 : kLeastLater; }
  double FloorOf(const TensorPair& pair, size_t i) const {
    if (excesses_.empty()) return noise_.FloorOf(pair);
    const double excess = excesses_[i];
    const double distance = pair.distance.value_or(0);
    return std::max(Least(), excess > 0 ? distance / excess : distance);
  }

  WalkedPair Differs(const WalkedPair& pair) {
    all_equal_ = false;
    return pair;
  }

  // Of weights and data: what is rounded once is as good as equal.
  WalkedPair OfRead(const TensorPair& pair) {
    if (pair.phase == Phase::kWeights && !weights_tell_) {
      return Differs({pair.distance ? Standing::kWithin : Standing::kUnknown});
    }
    if (pair.phase == Phase::kBatch && pair.other_shape) {
      other_layout_ = true;
      noise_.Miss();
      return Differs({Standing::kUnknown});
    }
    if (IsOther(pair)) return Differs({Standing::kBeyond});
    noise_.Add(pair, *pair.distance);
    return {Standing::kWithin};
  }

  WalkedPair OfComputed(const TensorPair& pair, double floor) {
    // Numbers without a sketch: where all before is equal to the bit, they must
    // be, too.
    const bool shape = pair.other_shape && pair.phase == Phase::kForward;
    const bool beyond = pair.distance ? *pair.distance > floor
                                      : !other_layout_ && (all_equal_ || shape);
    if (beyond) return Differs({Standing::kBeyond, floor});
    if (!pair.distance) return Differs({Standing::kUnknown, floor});
    noise_.Add(pair, *pair.distance);
    return Differs({Standing::kWithin, floor});
  }

  const bool weights_tell_;
  Noise noise_;
  // In lower formats: how many times what is usual each lies apart.
  std::vector<double> excesses_;
  bool all_equal_ = true;
  bool other_layout_ = false;
};

}  // namespace

std::vector<WalkedPair> WalkThrough(const StepAndNear& near,
                                    const WalkStart& start) {
  PairJudge judge(near, start);
  const std::vector<TensorPair>& pairs = near.step().pairs;
  std::vector<WalkedPair> walked;
  walked.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    walked.push_back(judge.Next(pairs[i], i));
  }
  return walked;
}

WalkedStep Walk(const StepAndNear& near, const WalkStart& start) {
  const PairedStep& step = near.step();
  if (!step.ordered) return WalkUnordered(step);
  WalkedStep walked;
  PairJudge judge(near, start);
  for (size_t i = 0; i < step.pairs.size(); ++i) {
    const WalkedPair pair = judge.Next(step.pairs[i], i);
    if (pair.standing != Standing::kEqual && !walked.first_unequal) {
      walked.first_unequal = i;
    }
    if (pair.standing == Standing::kBeyond) {
      walked.floor = pair.floor;
      walked.first_beyond = i;
      break;
    }
    double& most = step.pairs[i].phase <= Phase::kForward
                       ? walked.floor
                       : walked.gradient_floor;
    most = std::max(most, pair.floor);
    walked.equal += pair.standing == Standing::kEqual;
    if (pair.standing != Standing::kWithin) continue;
    ++walked.within;
    if (step.pairs[i].phase > Phase::kBatch) walked.noise = judge.noise();
  }
  if (walked.floor == 0) walked.floor = walked.gradient_floor;
  walked.other_layout = judge.other_layout();
  return walked;
}

}  // namespace nanwatch
