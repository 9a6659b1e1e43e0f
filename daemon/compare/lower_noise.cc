#include "compare/lower_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/sketch_distance.h"
#include "compare/smooth_ops.h"

namespace nanwatch {
namespace {

// In lower formats each op rounds what it reads and makes, and an op may do so
// within, and give back fp32. What it reads may lie so many times farther apart
// in what it makes, and its own roundings come to so many halves of a last bit.
// All numbers here are measured on the healthy pairs that
// tests/compare/RESULTS.md names.
struct LowerNoise {
  double gain;
  double roundings;
};
constexpr LowerNoise kForward = {1.8, 2.5};
constexpr LowerNoise kBackward = {2, 2.1};
constexpr LowerNoise kGradients = {2.7, 1.8};
// Of a gradient's norm alone: healthy pairs reach half of this.
constexpr LowerNoise kNorms = {0, 2.25};
// Attention that is sharp gives more than other functions do. Where the same op
// of other layers is there to compare with, that is allowed for.
constexpr double kAmongPeers = 2;
// Where a function has a kink, or takes the largest, noise of its input turns
// whole elements of its gradient on and off: so many times the noise's root.
constexpr double kKinks = 3;
// Beyond the same op of each other layer by this, in distance and in gain:
// healthy pairs reach 1.8 of four layers.
constexpr double kOfPeers = 1.9;
constexpr size_t kFewestPeers = 3;
// Of what a layer's peers have: less, in halves of a last bit, is luck.
constexpr double kLeastPeers = 0.3;
// One of a sketch's sums against the others, in a difference that is as good as
// normal: healthy pairs reach 5.4. It is no element's own rounding beyond so
// many halves of its last bit.
constexpr double kOutlier = 7;
constexpr double kOutliersRounding = 3;
constexpr double kLeastOutlying = 0.7;  // halves of a last bit, of the tensor
constexpr uint64_t kFewestElements = 1024;  // 64 a sum
// Of one step that is alone, and of one among others: so many times farther
// apart than where all agree.
constexpr double kAlone = 1.5;
constexpr double kSudden = 4;
// What stands out in all steps together does so in the one at hand, by this
// share at least.
constexpr double kAtHand = 0.8;
// Rows of which one may have been made of another.
constexpr size_t kNear = 8;

// How far the weights of ops lie apart, as a share of them.
class WeightsApart {
 public:
  explicit WeightsApart(const PairedStep& step) {
    std::map<std::string_view, std::array<double, 2>> squares;
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase != Phase::kWeights || !pair.a->sketch || !pair.b->sketch) {
        continue;
      }
      auto& [apart, norm] = squares[pair.op->name];
      if (!pair.equal)
        apart += Square(DistanceOf(*pair.a->sketch, *pair.b->sketch));
      norm += Square(NormOf(*pair.a->sketch));
    }
    for (const auto& [name, each] : squares) {
      const std::array<double, 2> before = sums_.back();
      names_.push_back(name);
      sums_.push_back({before[0] + each[0], before[1] + each[1]});
    }
  }

  // Of the weight itself, or of all weights of a module.
  double Of(const std::string& op) const {
    const auto [apart, norm] = Between(op, op + '\0');
    const auto [below, norm_below] = Between(op + '.', op + '/');
    const double all = norm + norm_below;
    return all > 0 ? std::sqrt((apart + below) / all) : 0;
  }

 private:
  static double Square(double x) { return x * x; }
  std::array<double, 2> Between(const std::string& from,
                                const std::string& to) const {
    const auto at = [this](const std::string& name) {
      return static_cast<size_t>(
          std::lower_bound(names_.begin(), names_.end(), name) -
          names_.begin());
    };
    const std::array<double, 2>&low = sums_[at(from)], &high = sums_[at(to)];
    return {high[0] - low[0], high[1] - low[1]};
  }

  std::vector<std::string_view> names_;              // rising
  std::vector<std::array<double, 2>> sums_{{0, 0}};  // before each
};

class TwoLargest {
 public:
  void Add(double x) {
    second_ = std::max(second_, std::min(x, largest_));
    largest_ = std::max(largest_, x);
  }
  // Returns the largest of the others. `x`: one that was added.
  double Without(double x) const { return x < largest_ ? largest_ : second_; }

 private:
  double largest_ = 0, second_ = 0;
};

// What one step says of a pair.
struct Apart {
  double excess = 0;  // times what is usual of it
  double gain = 0;    // times what it was made of
  double outlier = 0;
  double of_peers = 0;  // times the most that one of them has
};

class StepNoise {
 public:
  explicit StepNoise(const PairedStep& step)
      : step_(step), weights_(step), apart_(step.pairs.size()) {
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase == Phase::kForward) last_ = pair.op;
    }
    FindPeers();
    for (size_t i = 0; i < step.pairs.size(); ++i) Measure(i);
    for (const auto& [name, peers] : peers_) CompareWithPeers(peers);
  }
  const std::vector<Apart>& apart() const { return apart_; }

 private:
  using Generic = std::tuple<std::string, std::string, Slot, uint32_t>;

  static bool HasPeers(const TensorPair& pair) {
    return pair.phase == Phase::kForward || pair.phase == Phase::kBackward;
  }
  // The same op of all layers has one.
  static Generic GenericOf(const TensorPair& pair) {
    const auto& [op, type, slot, place] = pair.name;
    std::string name;
    for (const char c : op) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit || !name.ends_with('0')) name += digit ? '0' : c;
    }
    return {name, type, slot, place};
  }

  void FindPeers() {
    for (size_t i = 0; i < step_.pairs.size(); ++i) {
      if (HasPeers(step_.pairs[i])) {
        peers_[GenericOf(step_.pairs[i])].push_back(i);
      }
    }
    std::erase_if(peers_, [](const auto& each) {
      return each.second.size() <= kFewestPeers;
    });
    among_peers_.resize(step_.pairs.size());
    for (const auto& [name, peers] : peers_) {
      for (const size_t i : peers) among_peers_[i] = true;
    }
  }

  void Measure(size_t i) {
    const TensorPair& pair = step_.pairs[i];
    const bool is_new = !pair.a->digest || seen_.insert(*pair.a->digest).second;
    if (!pair.distance) return;
    const double distance = *pair.distance;
    if (pair.phase > Phase::kBatch && distance > 0) {
      const double near = NearOf(pair);
      apart_[i].excess =
          distance / FloorOf(pair, near, among_peers_[i], is_new);
      apart_[i].gain = distance / std::max(near, step_.epsilon);
      apart_[i].outlier = OutlierOf(pair);
    }
    // Weights lie apart after updates; what they do to ops is counted there.
    if (pair.phase == Phase::kWeights) return;
    most_ = std::max(most_, distance);
    if (pair.phase == Phase::kForward) forward_ = most_;
    newest_.push_back(&pair);
    if (newest_.size() > kNear) newest_.erase(newest_.begin());
  }

  static LowerNoise NoiseOf(const TensorPair& pair) {
    if (pair.phase == Phase::kBackward) return kBackward;
    if (pair.phase != Phase::kGradients) return kForward;
    return pair.by_statistics ? kNorms : kGradients;
  }

  double FloorOf(const TensorPair& pair, double near, bool among_peers,
                 bool is_new) const {
    const auto [gain, roundings] = NoiseOf(pair);
    const double made = gain * (among_peers ? kAmongPeers : 1) * near;
    const double own = roundings * step_.epsilon;
    const double weights = weights_.Of(pair.op->name);
    const double kinks =
        is_new && MayHaveKinks(pair) ? kKinks * std::sqrt(forward_) : 0;
    return std::max(
        kOfRepeats * pair.usual,
        std::sqrt(made * made + own * own + weights * weights + kinks * kinks));
  }

  // Between what arrives at an op and what others gave a function may stand.
  static bool MayHaveKinks(const TensorPair& pair) {
    if (pair.phase != Phase::kBackward) return false;
    return pair.a->slot == Slot::kGradOutput || !IsSmooth(pair.op->type);
  }

  // What it was made of: an op's inputs come right before its output, and those
  // of a module that calls others long before.
  double NearOf(const TensorPair& pair) const {
    if (pair.phase == Phase::kGradients) return most_;
    double near = 0, own = -1;
    bool calls = pair.op == last_;
    for (const TensorPair* other : newest_) {
      near = std::max(near, *other->distance);
      calls = calls || other->op->name.starts_with(pair.op->name + ".");
      if (pair.a->slot == Slot::kOutput && other->a->slot == Slot::kInput &&
          other->op == pair.op) {
        own = std::max(own, *other->distance);
      }
    }
    return own >= 0 && !calls ? own : near;
  }

  // Roundings are spread over a sketch's sums, and a few wrong elements are
  // not.
  double OutlierOf(const TensorPair& pair) const {
    if (pair.phase != Phase::kForward || !pair.a->sketch || !pair.b->sketch ||
        pair.a->elements < kFewestElements ||
        *pair.distance < kLeastOutlying * step_.epsilon) {
      return 0;
    }
    const Outlier outlier =
        OutlierOfDifference(*pair.a->sketch, *pair.b->sketch);
    return outlier.share > kOutliersRounding * step_.epsilon ? outlier.times
                                                             : 0;
  }

  void CompareWithPeers(const std::vector<size_t>& peers) {
    TwoLargest gains, distances;
    for (const size_t i : peers) {
      gains.Add(apart_[i].gain);
      distances.Add(step_.pairs[i].distance.value_or(0));
    }
    for (const size_t i : peers) {
      const double gain = gains.Without(apart_[i].gain);
      if (!step_.pairs[i].distance || gain == 0) continue;
      const double distance = *step_.pairs[i].distance;
      const double others =
          std::max(distances.Without(distance), kLeastPeers * step_.epsilon);
      apart_[i].of_peers = std::min(apart_[i].gain / gain, distance / others);
    }
  }

  const PairedStep& step_;
  const WeightsApart weights_;
  std::vector<Apart> apart_;
  const OpName* last_ = nullptr;  // it ends last: it calls all others
  std::map<Generic, std::vector<size_t>> peers_;
  std::vector<bool> among_peers_;
  std::set<uint64_t> seen_;  // digests
  double most_ = 0;
  double forward_ = 0;
  std::vector<const TensorPair*> newest_;
};

// The lower middle one of what the steps say, and not much more than what the
// one at hand does.
double Together(std::vector<double> all, double at_hand) {
  const auto middle =
      all.begin() + static_cast<ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return std::min(*middle, at_hand / kAtHand) / (all.size() < 3 ? kAlone : 1);
}

}  // namespace

std::vector<double> LowerExcesses(const StepAndNear& near) {
  std::vector<std::vector<Apart>> apart;
  std::map<TensorName, std::vector<const Apart*>> all;
  for (const PairedStep& step : near.steps) {
    apart.push_back(StepNoise(step).apart());
    for (size_t i = 0; i < step.pairs.size(); ++i) {
      if (step.pairs[i].distance) {
        all[step.pairs[i].name].push_back(&apart.back()[i]);
      }
    }
  }
  std::vector<double> excesses;
  for (size_t i = 0; i < near.step().pairs.size(); ++i) {
    const TensorPair& pair = near.step().pairs[i];
    const Apart& here = apart[near.at][i];
    if (!pair.distance || pair.by_statistics) {
      excesses.push_back(here.excess);
      continue;
    }
    const auto together = [&](double Apart::*number) {
      std::vector<double> each;
      for (const Apart* one : all[pair.name]) each.push_back(one->*number);
      return Together(std::move(each), here.*number);
    };
    excesses.push_back(
        std::max({here.excess / kSudden, together(&Apart::excess),
                  together(&Apart::of_peers) / kOfPeers,
                  together(&Apart::outlier) / kOutlier}));
  }
  return excesses;
}

}  // namespace nanwatch
