#include "scaler/tracker.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

static_assert(std::is_trivially_copyable_v<ScalerTracker>);
static_assert(sizeof(ScalerTracker) <= 272, "a part of every rank's state");

constexpr int64_t kGraceMax = 200;
constexpr int64_t kFallOver = 100;     // updates without a backoff
constexpr double kCleanDistances = 4;  // of a fall's backoffs
constexpr int kChangesToRecognise = 3;
constexpr int kExpected = 8;  // more than a first scale and an interval
constexpr double kSmallestNormal = 0x1p-126;
// A 0 after a larger scale, without an overflow, is one that was printed with
// too few digits; scale_unrepresentable has the same bound.
constexpr double kFallsToZero = 0x1p-100;

// A scale that a scaler may begin at, whatever it is; and how far from its
// first one it may be, where a log tells it after some overflows.
constexpr double kLowStart = 4096;
constexpr double kStartsWithin = 4;

// Of records that do not tell whether they overflowed: a search from 2^32 to 1
// is over after so many steps, and a scale that stood for so many has fitted;
// it stands for two where a scaler forgives an overflow.
constexpr int64_t kSearchSteps = 40;
constexpr int64_t kStood = 3;

bool Usable(double scale) { return scale > 0 && std::isfinite(scale); }

// Overflows in a row that leave the scale where it is, beside the forgiven
// ones: one for a scale that is recorded before its update, and no chance.
constexpr int64_t kNeverFellAfter = 7;

Told ToldBy(const StepRecord& record, bool check_off) {
  constexpr uint8_t kHasOverflow = 1u << static_cast<int>(StepFlag::kOverflow);
  if (!(record.flags_present & kHasOverflow)) return Told::kUnknown;
  if (!record.is(StepFlag::kOverflow)) return Told::kGood;
  // An overflow that is applied all the same never came to the scaler.
  return check_off || record.is_not(StepFlag::kSkipped) ? Told::kUnknown
                                                        : Told::kOverflow;
}

// Fewer updates between two changes are no growth interval of this scaler.
int64_t LeastQuiet(const ScalerSpec* spec, const ScalerDeclaration& declared) {
  if (spec == nullptr || spec->growth != Growth::kConsecutive) return 0;
  if (declared.growth_interval) return *declared.growth_interval / 4 * 3;
  // Many choose an interval of their own and do not say so; fairseq divides it
  // by ranks and accumulation.
  return spec->name == "fairseq" ? 0 : spec->growth_interval / 40;
}

}  // namespace

void ScalerTracker::Declare(const ScalerDeclaration& declaration) {
  const ScalerSpec* spec = FindScaler(declaration.name);
  if (spec != nullptr) {
    declared_ = static_cast<int8_t>(spec - AllScalers().data());
  }
  p_ = Resolve(spec, declaration);
  told_ = spec != nullptr || declaration.growth_factor ||
          declaration.backoff_factor || declaration.growth_interval ||
          declaration.min_scale || declaration.max_scale;
  const bool fixed =
      p_.growth == Growth::kNever || declaration.kind == ScalingKind::kNone;
  dynamic_ = !fixed &&
             (declaration.kind == ScalingKind::kDynamic ||
              declaration.kind == ScalingKind::kLayerwise || spec != nullptr);
  may_calibrate_ = !fixed;
  check_off_ = declaration.overflow_check == false;
  least_quiet_ = static_cast<int32_t>(
      std::min<int64_t>(LeastQuiet(spec, declaration), 1 << 30));
  SetGrace();
}

void ScalerTracker::Expect(std::string_view framework) {
  const ScalerSpec* spec = ScalerOfProgram(framework);
  if (spec == nullptr) return;
  expected_ = static_cast<int8_t>(spec - AllScalers().data());
  if (!told_ && may_calibrate_ && changes_ > 0) Choose();
}

double ScalerTracker::first_tried() const {
  if (!began_lost_ || SameScale(first_scale_, p_.init)) return first_scale_;
  if (SameScale(first_scale_, p_.init * p_.backoff_factor)) return p_.init;
  const bool answers = p_.hysteresis == Hysteresis::kNone;
  return order_ == ScaleOrder::kAfter && answers
             ? first_scale_ / p_.backoff_factor
             : first_scale_;
}

void ScalerTracker::SetGrace() {
  const double from = std::max(p_.init, first_scale_);
  if (from <= 0) return;
  const double to = p_.floor > 0 ? p_.floor : 1.0;
  grace_ = static_cast<int32_t>(
      std::min(kGraceMax, p_.Backoffs(from, to) * p_.OverflowsPerBackoff() +
                              p_.hysteresis_count - 1 + 2));
}

void ScalerTracker::OnStep(const StepRecord& record) {
  ++updates_;
  transition_ = Transition::kNone;
  why_ = Impossible::kNone;
  step_gap_ = record.step - last_step_;
  // Went back: what the scaler counted since its last change is not known.
  if (updates_ > 1 && step_gap_ < 0) changed_update_ = -1;
  const Told told = ToldBy(record, check_off_);
  const bool has_scale = record.has(StepField::kLossScale);
  const double scale = has_scale ? record[StepField::kLossScale] : 0;
  const bool stands = has_scale && Stands(scale_, scale);
  if (stands || (has_scale && Usable(scale))) {
    if (stands) {
      transition_ = Transition::kHeld;
    } else {
      Follow(scale, record, told);
    }
    scale_update_ = updates_;
    scale_step_ = record.step;
  }
  const auto [fate_before, good_before] = std::pair(fate_, good_);
  JudgeOverflow(record);
  if (has_scale) {
    zero_ = scale == 0 && scale_ > 0 && dynamic_ &&
            (zero_ || overflowed_ || scale_ <= kFallsToZero);
  }
  JudgeAnswer(told);
  JudgeGood(record);
  steady_ = updates_ > 1 && step_gap_ == 1 && !overflowed_ && streak_ == 0 &&
            fate_ == fate_before && good_ == good_before &&
            has_scale == had_scale_ && stands == has_scale;
  had_scale_ = has_scale;
  told_before_ = told;
  if (overflowed_) {
    ++streak_;
    quiet_since_ = updates_;
    if (calibrated_ && falls_ < INT32_MAX) ++falls_;
    applied_overflow_ = applied_overflow_ || fate_ == Fate::kApplied;
  } else {
    streak_ = 0;
    ++good_steps_;
    if (good_) highest_good_ = std::max(highest_good_, scale_);
  }
  last_step_ = record.step;
}

inline void ScalerTracker::JudgeOverflow(const StepRecord& record) {
  constexpr uint8_t kHasOverflow = 1u << static_cast<int>(StepFlag::kOverflow);
  constexpr uint8_t kHasSkipped = 1u << static_cast<int>(StepFlag::kSkipped);
  if (record.flags_present & kHasOverflow) {
    overflowed_ = record.is(StepFlag::kOverflow);
  } else if (record.flags_present & kHasSkipped) {
    overflowed_ = record.is(StepFlag::kSkipped);
  } else if (record.float_status != nullptr) {
    overflowed_ = record.float_status->words[0] != 0;
  } else {
    overflowed_ = transition_ == Transition::kBackedOff;
  }
  if (record.flags_present & kHasSkipped) {
    fate_ = record.is(StepFlag::kSkipped) ? Fate::kLost : Fate::kApplied;
  } else if (overflowed_) {
    fate_ = check_off_ ? Fate::kApplied : Fate::kLost;
  } else if (record.flags_present & kHasOverflow) {
    fate_ = Fate::kApplied;
  } else {
    const bool told = record.float_status != nullptr && !dynamic_;
    fate_ = told ? Fate::kApplied : Fate::kUnknown;
  }
}

void ScalerTracker::JudgeGood(const StepRecord& record) {
  good_ = !overflowed_ && (calibrated_ || !MayHideOverflow(record));
  calibrated_ = calibrated_ || good_;
}

// As a search begins: the forward of an update that overflows is finite, and
// that it was skipped shows in the scale of the next record only.
bool ScalerTracker::MayHideOverflow(const StepRecord& record) const {
  if (record.flags_present != 0 || record.float_status != nullptr ||
      !may_calibrate_ || !record.has(StepField::kLossScale) ||
      transition_ == Transition::kGrew || late_) {
    return false;
  }
  // A search does no harm to the loss.
  if (record.has(StepField::kLoss) &&
      !std::isfinite(record[StepField::kLoss])) {
    return false;
  }
  // When in an interval it fell, the line at its end does not tell.
  const int64_t records = updates_ - quiet_since_;
  return records < 2 || std::max(records, record.step - changed_step_) < kStood;
}

// Does the scale fall where overflow follows overflow?
inline void ScalerTracker::JudgeAnswer(Told told) {
  if (transition_ != Transition::kHeld || told != Told::kOverflow) {
    held_overflows_ = 0;
    never_falls_ = false;
    return;
  }
  ++held_overflows_;
  if (declared_ < 0) CrossOutThoseThatFall();
  if (never_falls_ || declared_ < 0 || !dynamic_ ||
      FollowsStatistics(p_.growth) || scale_ <= p_.floor ||
      SameScale(scale_, p_.floor)) {
    return;
  }
  never_falls_ = held_overflows_ >= kNeverFellAfter + p_.hysteresis_count;
  if (!never_falls_) return;
  ++impossible_;
  why_ = Impossible::kNeverFell;
  transition_ = Transition::kImpossible;
}

void ScalerTracker::Follow(double scale, const StepRecord& record, Told told) {
  const double from = scale_;
  scale_ = scale;
  if (from == 0) {
    first_scale_ = lowest_ = scale;
    changed_step_ = record.step;
    late_ = record.step > kSearchSteps;
    // Updates before it were good at this scale or at a higher one.
    if (good_steps_ > 0) highest_good_ = scale;
    // By its flag: that the scale fell, one record cannot show.
    began_lost_ = told == Told::kOverflow;
    SetGrace();
    JudgeFirst(record.step);
    return;
  }
  lowest_ = std::min(lowest_, scale);
  if (SameScale(from, scale)) {
    transition_ = Transition::kHeld;
    return;
  }
  if (changes_ < UINT16_MAX) ++changes_;
  const int64_t gap = std::abs(record.step - scale_step_);
  const Move move{.from = from,
                  .to = scale,
                  .before = told_before_,
                  .now = told,
                  .order = order_,
                  .quiet = changed_update_ < 0
                               ? -1
                               : std::max(updates_ - changed_update_,
                                          record.step - changed_step_),
                  .least_quiet = least_quiet_,
                  .consecutive = gap <= 1 && record.step >= last_step_ &&
                                 scale_update_ + 1 == updates_ && !shared_};
  OnChange(move, std::max<int64_t>(1, gap));
  changed_update_ = updates_;
  changed_step_ = record.step;
}

// A scale that was restored is one that fitted, or that of a probe above it.
// Whoever begins at step 0 or 1 begins the training anew.
void ScalerTracker::JudgeFirst(int64_t step) {
  constexpr double kFresh = 8;
  if (good_scale_before_ <= 0 || !may_calibrate_ || step <= 1 ||
      scale_ < kFresh * good_scale_before_) {
    return;
  }
  why_ = Impossible::kNotRestored;
  transition_ = Transition::kImpossible;
}

// A jump up to where a scaler begins, which none makes by growing: the process
// was restarted, and the steps went on.
bool ScalerTracker::BeginsAnew(const Move& move, int64_t gap) const {
  constexpr double kJump = 64;
  constexpr double kFastest = 16;  // updates a growth
  // A declared one is a client's, which tells of its restarts.
  if (!may_calibrate_ || declared_ >= 0 || move.to < kLowStart ||
      move.to < kJump * move.from) {
    return false;
  }
  const double grown =
      move.from * std::exp2(static_cast<double>(gap) / kFastest);
  const double high = std::max(p_.init, first_scale_);
  return move.to > grown && move.to >= first_scale_ / kStartsWithin &&
         move.to <= high * kStartsWithin;
}

void ScalerTracker::BeginAnew(const Move& move) {
  why_ = Impossible::kNotRestored;
  transition_ = Transition::kImpossible;
  if (highest_good_ > 0) good_scale_before_ = highest_good_;
  highest_good_ = 0;
  calibrated_ = false;
  falls_ = 0;
  started_ = updates_ - 1;
  late_ = false;
  fall_from_ = 0;
  quiet_since_ = updates_;
  p_.init = std::max(p_.init, move.to);
  SetGrace();
}

void ScalerTracker::OnChange(const Move& move, int64_t gap) {
  const auto [from, to] = std::pair(move.from, move.to);
  if (BeginsAnew(move, gap)) return BeginAnew(move);
  Recognise(from, to, gap);
  // A declared fixed scale that moves is a lie told once; it stays impossible.
  if (may_calibrate_) dynamic_ = true;
  const bool known = told_ || recognised_ >= 0 || !may_calibrate_;
  const bool reachable = known ? Reachable(p_, from, to, gap)
                               // No scaler grows fourfold in one update.
                               : gap > 1 || to < 3.5 * from;
  if (!reachable) {
    why_ = Impossible::kRatio;
  } else if (declared_ >= 0 && !shared_) {
    why_ = WhyImpossible(p_, move);
  }
  const bool possible = why_ == Impossible::kNone;
  if (!possible) ++impossible_;
  if (to > from) {
    fall_from_ = 0;
    falls_ = 0;
    transition_ = possible ? Transition::kGrew : Transition::kImpossible;
  } else {
    if (possible) LearnOrder(move);
    if (fall_from_ == 0 || updates_ - last_backoff_ > kFallOver) {
      fall_from_ = from;
      fall_update_ = updates_;
    }
    last_backoff_ = updates_;
    transition_ = possible ? Transition::kBackedOff : Transition::kImpossible;
  }
  quiet_since_ = updates_;
}

// A fall whose overflow is in one of the two records alone shows which of them
// has the scale that the overflow left. Falls that disagree show nothing.
void ScalerTracker::LearnOrder(const Move& move) {
  if (!move.consecutive || order_mixed_) return;
  ScaleOrder order = ScaleOrder::kUnknown;
  if (move.before == Told::kGood && move.now == Told::kOverflow) {
    order = ScaleOrder::kAfter;
  } else if (move.before == Told::kOverflow && move.now == Told::kGood) {
    order = ScaleOrder::kBefore;
  }
  if (order == ScaleOrder::kUnknown || order == order_) return;
  order_mixed_ = order_ != ScaleOrder::kUnknown;
  order_ = order_mixed_ ? ScaleOrder::kUnknown : order;
}

// Crosses out the scalers that could not have done this. What is left after
// three changes and agrees with the first scale is what the scaler behaves as.
void ScalerTracker::Recognise(double from, double to, int64_t gap) {
  if (told_ || !may_calibrate_) return;
  const std::span<const ScalerSpec> scalers = AllScalers();
  if (to > from) {
    seen_interval_ = static_cast<int32_t>(
        std::min<int64_t>(updates_ - quiet_since_, 1 << 30));
  }
  for (size_t i = 0; i < scalers.size(); ++i) {
    const ScalerSpec& s = scalers[i];
    if (FollowsStatistics(s.growth) || s.growth == Growth::kNever ||
        !Reachable(Resolve(&s, {}), from, to, gap)) {
      candidates_ &= ~(1u << i);
    }
  }
  Choose();
}

void ScalerTracker::CrossOutThoseThatFall() {
  if (told_ || !may_calibrate_ || held_overflows_ <= kNeverFellAfter ||
      held_overflows_ > kNeverFellAfter + 2) {
    return;  // none forgives more than two
  }
  const std::span<const ScalerSpec> scalers = AllScalers();
  for (size_t i = 0; i < scalers.size(); ++i) {
    const ScalerParameters p = Resolve(&scalers[i], {});
    // The program's own may have been given a floor.
    const double floor =
        static_cast<int>(i) == expected_ ? std::max(p.floor, 1.0) : p.floor;
    const bool at_floor = scale_ <= floor || SameScale(scale_, floor);
    if (!at_floor && held_overflows_ >= kNeverFellAfter + p.hysteresis_count) {
      candidates_ &= ~(1u << i);
    }
  }
  Choose();
}

void ScalerTracker::Choose() {
  const std::span<const ScalerSpec> scalers = AllScalers();
  int best = -1;
  int best_score = -1;
  for (int i = 0; i < static_cast<int>(scalers.size()); ++i) {
    if (!(candidates_ >> i & 1)) continue;
    const ScalerSpec& s = scalers[i];
    if (s.of_one_program && i != expected_) continue;
    int score = i == expected_ ? kExpected : 0;
    // The first record may show the scale before or after its overflow.
    if (SameScale(first_scale_, s.init) ||
        SameScale(first_scale_, s.init * s.backoff_factor)) {
      score += 3;
    }
    const int64_t off = std::abs(seen_interval_ - s.growth_interval);
    if (seen_interval_ > 0 && s.growth_interval > 0 && off <= 2) score += 4;
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  // Agreement in the ratio alone names nobody: half of them halve.
  const bool named = changes_ >= kChangesToRecognise && best_score >= 2;
  const bool holds = recognised_ >= 0 && (candidates_ >> recognised_ & 1);
  if (!named && (holds || recognised_ < 0)) return;
  if (!named) best = -1;
  if (best == recognised_) return;
  recognised_ = static_cast<int8_t>(best);
  p_ = Resolve(best < 0 ? nullptr : &scalers[best], {});
}

const ScalerSpec* ScalerTracker::spec() const {
  const int index = declared_ >= 0 ? declared_ : recognised_;
  return index < 0 ? nullptr : &AllScalers()[index];
}

bool ScalerTracker::recognised() const {
  return declared_ < 0 && recognised_ >= 0;
}

int64_t ScalerTracker::growth_interval() const { return p_.growth_interval; }

int64_t ScalerTracker::overflows_per_growth() const {
  if (spec() == nullptr) return 2;
  // Transitions alone do not show what a scaler forgives before it falls.
  const int64_t own = p_.OverflowsPerGrowth();
  return recognised() ? std::max<int64_t>(2, own) : own;
}

// REQUIRES: a fall with so many backoffs, one at least.
bool ScalerTracker::FallIsOver(double backoffs) const {
  if (updates_ - last_backoff_ > kFallOver) return true;
  const auto clean = static_cast<double>(updates_ - quiet_since_);
  const auto between = static_cast<double>(last_backoff_ - fall_update_);
  // Of one backoff nobody knows how far the next is.
  const double distance = backoffs >= 1.5 ? between / (backoffs - 1) : 1;
  return clean > kCleanDistances * std::max(1.0, distance);
}

std::optional<int64_t> ScalerTracker::updates_to_floor() const {
  if (fall_from_ == 0) return {};
  if (p_.floor == 0 && scale_ >= 1) return {};
  const double to = p_.floor > 0 ? p_.floor : kSmallestNormal;
  if (!(scale_ > to) || !(p_.backoff_factor < 1)) return {};
  // The rate of overflows that the fall shows; flags may be missing.
  const double backoffs =
      ExactLog2(fall_from_ / scale_) / -ExactLog2(p_.backoff_factor);
  if (FallIsOver(backoffs)) return {};
  const auto updates = static_cast<double>(updates_ - fall_update_ + 1);
  const auto each = static_cast<double>(p_.OverflowsPerBackoff());
  return ScalerModel::BackedOff(p_, scale_)
      .UpdatesTo(to, backoffs * each / updates);
}

}  // namespace nanwatch
