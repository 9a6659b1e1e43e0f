#include "engine/layer_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "model/limits.h"
#include "scaler/log2.h"

namespace nanwatch {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
// log2 of the largest number of fp16, that scales are to keep below.
constexpr double kFp16Top = 15.999295387023410 - kScaleMargin;

template <typename T>
auto FindOp(std::vector<T>& all, uint32_t op) {
  return std::lower_bound(
      all.begin(), all.end(), op,
      [](const T& one, uint32_t key) { return one.op < key; });
}

// A gradient that is wholly lost is that many bits smaller than one of which 1
// in 1000 elements is: 9.6 from there to its deviation, 2 to its largest value
// and 1 below the smallest number; and one layer does not make it smaller by
// more than these. Else its zeros were never more than that.
constexpr float kLostALayer = 8;  // bits; ours

// "blocks.3" is a layer around "blocks.3.fc1", and around itself.
bool IsWithin(std::string_view op, std::string_view layer) {
  if (layer.empty() || !op.starts_with(layer)) return false;
  if (op.size() == layer.size()) return true;
  const char next = op[layer.size()];
  return next == '.' || next == '/' || next == ':';
}

}  // namespace

void LayerWatch::Add(const WaitingFit& fit) {
  if (state_ == nullptr) state_ = std::make_unique<State>();
  std::vector<WaitingFit>& all = state_->waiting;
  if (all.size() >= static_cast<size_t>(limits::kWaitingFits)) all.clear();
  all.push_back(fit);
}

void LayerWatch::Declare() {
  if (state_ == nullptr) state_ = std::make_unique<State>();
  state_->declared = true;
}

void LayerWatch::TakeScales(std::span<const LayerScale> scales) {
  if (scales.empty()) return;
  if (state_ == nullptr) state_ = std::make_unique<State>();
  State& s = *state_;
  if (s.rules.empty()) s.rules.emplace_back();
  size_t next = 0;  // they come in the same order each time
  bool grew = false;
  for (const LayerScale& given : scales) {
    if (next >= s.scales.size() || s.scales[next].op != given.op) {
      auto at = std::lower_bound(
          s.scales.begin(), s.scales.end(), given.op,
          [](const Scale& one, uint32_t op) { return one.op < op; });
      if (at == s.scales.end() || at->op != given.op) {
        if (s.scales.size() >= limits::kLayerScalesPerRank) continue;
        at = s.scales.insert(at, Scale{.op = given.op});
        grew = true;
      }
      next = static_cast<size_t>(at - s.scales.begin());
    }
    const bool usable = given.scale > 0 && std::isfinite(given.scale);
    Move(usable ? static_cast<float>(ExactLog2(given.scale)) : kNone,
         &s.scales[next++]);
  }
  if (grew) s.homes.clear();  // indices moved, and a nearer one may be there
}

void LayerWatch::Move(float log2, Scale* scale) {
  if (scale->stood > 0 && log2 == scale->log2) {
    if (scale->stood < UINT16_MAX) ++scale->stood;
    return;
  }
  scale->before = scale->stood > 0 ? scale->log2 : kNone;
  scale->stood_before = scale->stood;
  scale->log2 = log2;
  scale->stood = 1;
}

int32_t LayerWatch::HomeOf(uint32_t op, const OpNameOf& name) {
  State& s = *state_;
  if (s.scales.empty()) return -1;
  const auto at = FindOp(s.homes, op);
  if (at != s.homes.end() && at->op == op) return at->scale;
  Home home{.op = op};
  size_t nearest = 0;
  const std::string_view of = name(op);
  for (size_t i = 0; i < s.scales.size(); ++i) {
    if (s.scales[i].op == op) {
      home.scale = static_cast<int32_t>(i);
      break;
    }
    const std::string_view layer = name(s.scales[i].op);
    if (layer.size() > nearest && IsWithin(of, layer)) {
      nearest = layer.size();
      home.scale = static_cast<int32_t>(i);
    }
  }
  s.homes.insert(at, home);
  return home.scale;
}

std::optional<float> LayerWatch::ScaleOf(const WaitingFit& fit,
                                         const OpNameOf& name) {
  if (!std::isnan(fit.own_scale)) return fit.own_scale;
  const int32_t home = HomeOf(fit.op, name);
  if (home < 0) return std::nullopt;
  return state_->scales[static_cast<size_t>(home)].log2;
}

LayerRange* LayerWatch::RangeOf(uint32_t op) {
  State& s = *state_;
  if (s.next < s.ranges.size() && s.ranges[s.next].op() == op) {
    return &s.ranges[s.next++];
  }
  const auto at = std::lower_bound(
      s.ranges.begin(), s.ranges.end(), op,
      [](const LayerRange& one, uint32_t key) { return one.op() < key; });
  s.next = static_cast<size_t>(at - s.ranges.begin()) + 1;
  if (at != s.ranges.end() && at->op() == op) return &*at;
  if (s.ranges.size() >= static_cast<size_t>(limits::kLayerRangesPerRank)) {
    return nullptr;
  }
  return &*s.ranges.insert(at, LayerRange(op));
}

std::span<const WaitingFit> LayerWatch::Of(int64_t step) const {
  const std::vector<WaitingFit>& all = state_->waiting;
  size_t from = 0;
  while (from < all.size() && all[from].step < step) ++from;
  size_t to = from;
  while (to < all.size() && all[to].step == step) ++to;
  return std::span(all).subspan(from, to - from);
}

std::vector<LayerWatch::Placed> LayerWatch::At(int64_t step,
                                               std::optional<double> log2_scale,
                                               const OpNameOf& name) {
  std::vector<Placed> all;
  if (state_ == nullptr) return all;
  // The scale that the newest gradient which is not 0 needs, log2; and whether
  // zeros came since that are none of a scale: those of what follows are
  // theirs.
  float needed = kNone;
  bool dead = false;
  for (const WaitingFit& fit : Of(step)) {
    if (fit.fit.sight == Sight::kNone) continue;
    const std::optional<float> own = ScaleOf(fit, name);
    if (!own && !log2_scale) continue;
    const float scale = own ? *own : static_cast<float>(*log2_scale);
    if (std::isnan(scale)) continue;
    const bool fp8 = !std::isnan(fit.own_scale);
    Placed& placed = all.emplace_back(Placed{.op = fit.op,
                                             .fit = fit.fit,
                                             .scale = scale,
                                             .owner = fp8 ? ScaleOwner::kTensor
                                                      : own ? ScaleOwner::kLayer
                                                            : ScaleOwner::kRun,
                                             .bad = fit.bad});
    if (fp8 || fit.bad) continue;
    if (fit.fit.sight != Sight::kLost) {
      dead = false;
      if (!std::isnan(fit.fit.low)) needed = scale + fit.fit.low;
      continue;
    }
    dead = dead || scale >= needed + kLostALayer;
    if (dead) placed.fit.sight = Sight::kNone;
  }
  return all;
}

bool LayerWatch::Take(int64_t step, std::optional<double> log2_scale,
                      bool usable, const OpNameOf& name) {
  State& s = *state_;
  if (s.waiting.empty() || s.waiting.front().step > step) return false;
  for (const Placed& each : At(step, log2_scale, name)) {
    if (each.owner == ScaleOwner::kTensor && s.rules.empty()) {
      s.rules.emplace_back();
    }
    LayerRange* const range = RangeOf(each.op);
    if (range == nullptr) continue;
    if (usable && !each.bad) {
      range->Take(each.fit, each.scale, each.owner);
    } else {
      range->Pass(each.scale, each.owner);
    }
  }
  const std::span<const WaitingFit> fits = Of(step);
  if (usable && !s.scales.empty()) TakeWeights(fits, name);
  const auto end = fits.data() + fits.size() - s.waiting.data();
  s.waiting.erase(s.waiting.begin(), s.waiting.begin() + end);
  return true;
}

void LayerWatch::TakeWeights(std::span<const WaitingFit> fits,
                             const OpNameOf& name) {
  State& s = *state_;
  // Of each scale's layer: the size of what arrives at its output, without the
  // scale; NaN where that is not known.
  std::vector<float> arrives(s.scales.size(), kNone);
  std::vector<bool> told(s.scales.size());
  for (const WaitingFit& fit : fits) {
    const int32_t home = HomeOf(fit.op, name);
    if (home < 0 || fit.fit.sight == Sight::kNone ||
        fit.slot != Slot::kGradOutput) {
      continue;
    }
    const auto i = static_cast<size_t>(home);
    if (!told[i]) arrives[i] = fit.size - s.scales[i].log2;
    told[i] = true;
  }
  for (const WaitingFit& fit : fits) {
    if (fit.fit.sight != Sight::kNone || fit.bad) continue;
    const int32_t home = HomeOf(fit.op, name);
    if (home < 0) continue;
    const auto i = static_cast<size_t>(home);
    Move(fit.op, {.size = told[i] ? fit.size - arrives[i] : fit.size,
                  .scale = s.scales[i].log2,
                  .against_layer = told[i]});
  }
}

// A weight at an attempt.
void LayerWatch::Move(uint32_t op, const Weight& now) {
  State& s = *state_;
  const auto at = FindOp(s.slopes, op);
  const auto i = at - s.slopes.begin();
  if (at == s.slopes.end() || at->op != op) {
    if (s.slopes.size() >= static_cast<size_t>(limits::kLayerRangesPerRank)) {
      return;
    }
    s.slopes.insert(at, LayerSlope{.op = op});
    s.weights.insert(s.weights.begin() + i,
                     Weight{.size = kNone, .scale = kNone});
  }
  LayerSlope& slope = s.slopes[static_cast<size_t>(i)];
  Weight& before = s.weights[static_cast<size_t>(i)];
  const float by = now.scale - before.scale;
  const float moved = now.size - before.size;
  const bool alike = now.against_layer == before.against_layer;
  if (alike && !std::isnan(by) && !std::isnan(moved) && by != 0) {
    // The newest 64 changes count: what was mended is over.
    constexpr float kForget = 1 - 1.0f / 64;  // ours
    if (slope.changes < UINT32_MAX) ++slope.changes;
    slope.scale_square = slope.scale_square * kForget + by * by;
    slope.product = slope.product * kForget + by * moved;
    slope.gradient_square = slope.gradient_square * kForget + moved * moved;
  }
  // What says nothing is passed over.
  if (!std::isnan(now.size) && !std::isnan(now.scale)) before = now;
}

void LayerWatch::ToCommon(int64_t step, double log2_scale, const OpNameOf& name,
                          StepGradients* gradients) {
  gradients->range = {};
  gradients->first_order = gradients->last_order = -1;
  for (const WaitingFit& fit : Of(step)) {
    if (!std::isnan(fit.own_scale)) continue;
    const std::optional<float> own = ScaleOf(fit, name);
    if (own && std::isnan(*own)) continue;
    const double by = own ? *own - log2_scale : 0;
    if (fit.slot == Slot::kGradOutput && fit.order >= 0 &&
        !std::isnan(fit.size)) {
      gradients->AddArrival(
          fit.order, static_cast<float>(ExactExp2(double{fit.size} - by)));
    }
    if (fit.fit.sight == Sight::kNone || fit.fit.sight == Sight::kLost) {
      continue;
    }
    std::optional<double> lowest;
    std::optional<float> largest;
    if (!std::isnan(fit.fit.low)) lowest = fit.fit.low + by;
    if (!std::isnan(fit.fit.high)) {
      largest = static_cast<float>(
          ExactExp2(kFp16Top - (static_cast<double>(fit.fit.high) + by)));
    }
    gradients->range.Add(fit.op, lowest, largest);
  }
}

std::vector<LayerTold> LayerWatch::Told(int64_t step, bool forward_bad,
                                        const OpNameOf& name) {
  std::vector<LayerTold> told;
  if (state_ == nullptr || state_->scales.empty()) return told;
  const std::span<const WaitingFit> fits = Of(step);
  const bool any = std::any_of(fits.begin(), fits.end(),
                               [](const WaitingFit& fit) { return fit.bad; });
  if (!any && state_->courses.empty()) return told;
  std::vector<int32_t> places(state_->scales.size(), -1);
  bool first = !forward_bad;  // no gradient before was bad
  for (const WaitingFit& fit : fits) {
    if (!std::isnan(fit.own_scale)) continue;
    const int32_t home = HomeOf(fit.op, name);
    const bool origin = fit.bad && first;
    first = first && !fit.bad;
    if (home < 0) continue;
    const Scale& scale = state_->scales[static_cast<size_t>(home)];
    if (std::isnan(scale.log2)) continue;
    int32_t& place = places[static_cast<size_t>(home)];
    if (place < 0) {
      place = static_cast<int32_t>(told.size());
      told.push_back({.op = scale.op,
                      .log2_scale = scale.log2,
                      .log2_before = scale.before,
                      .stood = scale.stood,
                      .stood_before = scale.stood_before});
    }
    LayerTold& one = told[static_cast<size_t>(place)];
    one.bad = one.bad || fit.bad;
    one.origin = one.origin || origin;
  }
  return told;
}

LayerCourse* LayerWatch::CourseOf(uint32_t op) {
  if (state_ == nullptr) return nullptr;
  const auto found = std::find_if(
      state_->courses.begin(), state_->courses.end(),
      [op](const LayerCourse& course) { return course.op() == op; });
  return found == state_->courses.end() ? nullptr : &*found;
}

LayerCourse* LayerWatch::Follow(uint32_t op, const ScalerDeclaration& scaler) {
  if (LayerCourse* const course = CourseOf(op)) return course;
  std::vector<LayerCourse>& all = state_->courses;
  if (all.size() < limits::kLayerCoursesPerRank) {
    return &all.emplace_back(op, scaler);
  }
  const auto quiet =
      std::find_if(all.begin(), all.end(),
                   [](const LayerCourse& course) { return course.quiet(); });
  if (quiet == all.end()) return nullptr;
  *quiet = LayerCourse(op, scaler);
  return &*quiet;
}

std::span<const LayerRange> LayerWatch::ranges() const {
  return state_ == nullptr ? std::span<const LayerRange>()
                           : std::span<const LayerRange>(state_->ranges);
}

std::span<const LayerSlope> LayerWatch::slopes() const {
  return state_ == nullptr ? std::span<const LayerSlope>()
                           : std::span<const LayerSlope>(state_->slopes);
}

}  // namespace nanwatch
