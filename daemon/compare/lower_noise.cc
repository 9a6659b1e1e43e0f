#include "compare/lower_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/amplification.h"
#include "compare/floors.h"
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
constexpr LowerNoise kForward = {1.8, 2.3};
constexpr LowerNoise kBackward = {2.2, 2.3};
constexpr LowerNoise kGradients = {3, 2};
// Of a gradient's norm alone: healthy pairs reach half of this.
constexpr LowerNoise kNorms = {0, 2.25};
// Attention that is sharp gives more than other functions do. Where the same op
// of other layers is there to compare with, that is allowed for.
constexpr double kAmongPeers = 2;
// Roundings of each time stay in the state of what goes through time, and its
// own weights amplify them. Of a GRU whose recurrent weights are four times as
// large as usual healthy pairs reach 1.5.
constexpr double kThroughTime = 2;
// Where a function has a kink, or takes the largest, noise of its input turns
// whole elements of its gradient on and off: so many times the noise's root.
constexpr double kKinks = 3;
constexpr size_t kFewestPeers = 3;
// Weights that updates moved apart are not apart at random: what they make may
// lie so many times farther apart. Ours; where nothing else is allowed for, 6
// is measured.
constexpr double kOfWeights = 3;
constexpr double kOfWeightsAlone = 8;
// Of one function of which it is known how it rounds and, from the backward
// pass, how it amplifies. Of 3,370 products healthy pairs reach 0.93 of this,
// and of 1,580 normalizations 0.92.
constexpr LowerNoise kProducts = {1.7, 1.4};
constexpr LowerNoise kNormalizations = {1.5, 0.5};
// A layer stands out in its distance and in its gain, by this at least in each.
constexpr double kEachOfPeers = 1.5;
// Of what a layer's peers have: less, in halves of a last bit, is luck.
constexpr double kLeastPeers = 0.3;
// A sum that stands out is no element's own rounding beyond so many halves of
// its last bit.
constexpr double kOutliersRounding = 3;
constexpr double kLeastOutlying = 0.7;  // halves of a last bit, of the tensor
constexpr uint64_t kFewestElements = 1024;  // 64 a sum
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

class StepNoise {
 public:
  explicit StepNoise(const PairedStep& step)
      : step_(step),
        weights_(step),
        amplification_(step),
        apart_(step.pairs.size()) {
    for (const TensorPair& pair : step.pairs) {
      if (pair.phase == Phase::kForward) last_ = pair.op;
    }
    FindPeers();
    for (size_t i = 0; i < step.pairs.size(); ++i) Measure(i);
    for (const auto& [name, peers] : peers_) CompareWithPeers(peers);
  }
  const std::vector<LowerApart>& apart() const { return apart_; }

 private:
  using Generic = std::tuple<std::string, std::string, Slot, uint32_t>;

  static bool HasPeers(const TensorPair& pair) {
    return pair.distance &&
           (pair.phase == Phase::kForward || pair.phase == Phase::kBackward);
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
      const TensorPair& pair = step_.pairs[i];
      if (HasPeers(pair)) peers_[GenericOf(pair)].push_back(i);
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
    // Both tensors, as another op made them, or gets them.
    const bool again = pair.a->digest && pair.b->digest &&
                       !both_.insert({*pair.a->digest, *pair.b->digest}).second;
    if (!pair.distance) return;
    const double distance = *pair.distance;
    if (pair.phase > Phase::kBatch && distance > 0 && !again) {
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

  // Of one function's output, where it is known how it rounds and amplifies.
  std::optional<double> AmplificationOf(const TensorPair& pair) const {
    if (pair.a->slot != Slot::kOutput ||
        RoundingsOfType(pair.op->type) == RoundingsOf::kUnknown) {
      return std::nullopt;
    }
    return amplification_.Of(pair.op->name);
  }

  double FloorOfFunction(const TensorPair& pair, double near,
                         double amplified) const {
    const LowerNoise& noise =
        RoundingsOfType(pair.op->type) == RoundingsOf::kResult ? kNormalizations
                                                               : kProducts;
    const double times = std::max(1.0, amplified);
    return std::hypot(times * noise.gain * near,
                      times * noise.roundings * step_.epsilon,
                      kOfWeightsAlone * weights_.Of(pair.op->name));
  }

  double FloorOf(const TensorPair& pair, double near, bool among_peers,
                 bool is_new) const {
    if (const auto amplified = AmplificationOf(pair)) {
      return std::max(kOfRepeats * pair.usual,
                      FloorOfFunction(pair, near, *amplified));
    }
    const auto [gain, roundings] = NoiseOf(pair);
    const double times = GoesThroughTime(pair.op->type) ? kThroughTime : 1;
    const double made = times * gain * (among_peers ? kAmongPeers : 1) * near;
    const double own = times * roundings * step_.epsilon;
    const double weights = kOfWeights * weights_.Of(pair.op->name);
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
          other->op->name == pair.op->name) {
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
      distances.Add(*step_.pairs[i].distance);
    }
    for (const size_t i : peers) {
      const double gain = gains.Without(apart_[i].gain);
      // What is known of itself needs no peers.
      if (gain == 0 || AmplificationOf(step_.pairs[i])) continue;
      const double apart = *step_.pairs[i].distance;
      const double times = apart / std::max(distances.Without(apart),
                                            kLeastPeers * step_.epsilon);
      const double more = apart_[i].gain / gain;
      if (std::min(times, more) < kEachOfPeers) continue;
      apart_[i].of_peers = std::sqrt(times * more);
    }
  }

  const PairedStep& step_;
  const WeightsApart weights_;
  const Amplification amplification_;
  std::vector<LowerApart> apart_;
  const OpName* last_ = nullptr;  // it ends last: it calls all others
  std::map<Generic, std::vector<size_t>> peers_;
  std::vector<bool> among_peers_;
  std::set<uint64_t> seen_;  // a's digests
  std::set<std::pair<uint64_t, uint64_t>> both_;
  double most_ = 0;
  double forward_ = 0;
  std::vector<const TensorPair*> newest_;
};

}  // namespace

std::vector<LowerApart> ApartInLower(const PairedStep& step) {
  return StepNoise(step).apart();
}

}  // namespace nanwatch
