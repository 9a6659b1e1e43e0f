#include "compare/step_walk.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "compare/floors.h"
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
// In lower formats each op rounds what it reads and makes, and an op may do so
// within, and give back fp32. What it reads may lie so many times farther apart
// in what it makes, and its own roundings come to so many halves of a last bit.
// Measured on 90 healthy pairs of the nets of tests/compare, 30 of them
// trained: beside the gain given here ops reach 2.9, 1.7 and 0 halves.
struct LowerNoise {
  double gain;
  double roundings;
};
constexpr LowerNoise kLowerForward = {2, 3.2};
constexpr LowerNoise kLowerBackward = {2.2, 2.6};
constexpr LowerNoise kLowerGradients = {3, 2.25};
// Of a gradient's norm alone: healthy pairs reach half of this.
constexpr LowerNoise kLowerNorms = {0, 2.25};
// Rows of which one may have been made of another.
constexpr size_t kNear = 8;
// After updates weights have parted as far as the noise made them: only what
// differs plainly is told.
constexpr double kLeastLater = 0.02;

double Coarsest(const PairedStep& step, double lowest) {
  for (const TensorPair& pair : step.pairs) {
    if (pair.phase == Phase::kForward) lowest = std::max(lowest, pair.epsilon);
  }
  return lowest;
}

const OpName* LastForward(const PairedStep& step) {
  const OpName* last = nullptr;
  for (const TensorPair& pair : step.pairs) {
    if (pair.phase == Phase::kForward) last = pair.op;
  }
  return last;
}

// How far the tensors lie apart that were walked through.
class Noise {
 public:
  // `last`: the op that ends last in the forward pass, which calls all others.
  Noise(double epsilon, const OpName* last, double least)
      : epsilon_(epsilon), last_(last), least_(least) {}

  // What is usual of the next one, at most.
  double FloorOf(const TensorPair& pair) const {
    return std::max(kOfRepeats * pair.usual, EstimateOf(pair));
  }
  void Add(const TensorPair& pair, double distance) {
    ++count_;
    // Statistics show a part of what it adds.
    missed_ = missed_ || (pair.by_statistics && distance > 0);
    most_ = std::max(most_, distance);
    newest_.push_back({&pair, distance});
    if (newest_.size() > kNear) newest_.erase(newest_.begin());
  }
  // One that could not be compared: what it adds is not seen.
  void Miss() { missed_ = true; }
  double most() const { return most_; }

 private:
  double EstimateOf(const TensorPair& pair) const {
    if (epsilon_ > kFp32) {
      const LowerNoise lower = LowerNoiseOf(pair);
      return std::max(least_, std::hypot(lower.gain * NearOf(pair),
                                         lower.roundings * epsilon_));
    }
    const double depth = static_cast<double>(count_) / kOpsALayer;
    const double own = (missed_ ? kUnseenRoundings : kRoundings) *
                       pair.epsilon * std::sqrt(1 + depth);
    return std::max({least_, own, kJump * most_});
  }

  static LowerNoise LowerNoiseOf(const TensorPair& pair) {
    if (pair.phase == Phase::kBackward) return kLowerBackward;
    if (pair.phase != Phase::kGradients) return kLowerForward;
    return pair.by_statistics ? kLowerNorms : kLowerGradients;
  }

  // What it was made of: an op's inputs come right before its output, and those
  // of a module that calls others long before.
  double NearOf(const TensorPair& pair) const {
    if (pair.phase == Phase::kGradients) return most_;
    double near = 0, own = -1;
    bool calls = pair.op == last_;
    for (const auto& [other, distance] : newest_) {
      near = std::max(near, distance);
      calls = calls || other->op->name.starts_with(pair.op->name + ".");
      if (pair.a->slot == Slot::kOutput && other->a->slot == Slot::kInput &&
          other->op == pair.op) {
        own = std::max(own, distance);
      }
    }
    return own >= 0 && !calls ? own : near;
  }

  const double epsilon_;  // of the coarsest format
  const OpName* const last_;
  const double least_;
  bool missed_ = false;
  size_t count_ = 0;
  double most_ = 0;
  std::vector<std::pair<const TensorPair*, double>> newest_;
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
  PairJudge(const PairedStep& step, const WalkStart& start)
      : weights_tell_(start.fresh || start.same_before),
        noise_(Coarsest(step, start.lowest), LastForward(step),
               weights_tell_ ? 0 : kLeastLater) {}

  WalkedPair Next(const TensorPair& pair) {
    if (pair.equal) {
      noise_.Add(pair, 0);
      return {Standing::kEqual};
    }
    if (pair.other_specials) return Differs({Standing::kBeyond});
    return pair.phase <= Phase::kBatch ? OfRead(pair) : OfComputed(pair);
  }
  bool other_layout() const { return other_layout_; }
  double noise() const { return noise_.most(); }

 private:
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

  WalkedPair OfComputed(const TensorPair& pair) {
    const double floor = noise_.FloorOf(pair);
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
  bool all_equal_ = true;
  bool other_layout_ = false;
};

}  // namespace

std::vector<WalkedPair> WalkThrough(const PairedStep& step,
                                    const WalkStart& start) {
  PairJudge judge(step, start);
  std::vector<WalkedPair> walked;
  walked.reserve(step.pairs.size());
  for (const TensorPair& pair : step.pairs) walked.push_back(judge.Next(pair));
  return walked;
}

WalkedStep Walk(const PairedStep& step, const WalkStart& start) {
  if (!step.ordered) return WalkUnordered(step, start.lowest);
  WalkedStep walked;
  PairJudge judge(step, start);
  for (size_t i = 0; i < step.pairs.size(); ++i) {
    const WalkedPair pair = judge.Next(step.pairs[i]);
    if (pair.standing != Standing::kEqual && !walked.first_unequal) {
      walked.first_unequal = i;
    }
    if (pair.standing == Standing::kBeyond) {
      walked.floor = pair.floor;
      walked.first_beyond = i;
      break;
    }
    walked.floor = std::max(walked.floor, pair.floor);
    walked.equal += pair.standing == Standing::kEqual;
    if (pair.standing != Standing::kWithin) continue;
    ++walked.within;
    if (step.pairs[i].phase > Phase::kBatch) walked.noise = judge.noise();
  }
  walked.other_layout = judge.other_layout();
  return walked;
}

}  // namespace nanwatch
