#include "detect/loss_high_plateau.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "detect/float_log2.h"
#include "detect/program.h"

namespace nanwatch {
namespace {

constexpr float kLearnedShare = 0.5f;  // of the first level; ours
constexpr float kMuchLost = 0.18f;     // of what was learned; ours
constexpr float kMuchMore = 0.182f;    // ln 1.2, as loss_spike's clear_ratio
constexpr float kTiny = 0.1f;          // first levels that say nothing; ours
constexpr float kRisenShare = 0.2f;    // a tiny loss may double; ours
constexpr int32_t kLevel = 16;         // records that are a level; ours
// A rise that is no jump, as harder data make one.
constexpr float kNoJump = 0.6f;        // of it, at once; ours
constexpr float kCrept = 1.09f;        // times the best level; ours
constexpr float kCreptSure = 8;        // deviations of a mean of kLevel; ours
constexpr float kLeastRise = 0.0953f;  // ln 1.1, the least threshold
// Of a loss that crossed 0: the size that it had before, in its units.
constexpr float kBefore = 0.8814f;  // asinh 1; ours
constexpr float kWider = 10;        // times the swings of the first third; ours
constexpr float kSizable = 1;       // a swing: policies' are below that; ours
constexpr double kGuessShare = 0.5;  // of critical_steps; ours

}  // namespace

// The steps go on where an attempt before stood, so the model should, too. Far
// back, or from the first step on, it may be trained anew.
void LossHighPlateau::Begin(const StepContext& c, Thresholds t) {
  untrained_.words = UntrainedLoss(c.run, static_cast<float>(t[kGuessing]));
  if (untrained_.words == 0) {
    untrained_.classes =
        LossOfClasses(c.run, static_cast<float>(c.record[StepField::kLoss]));
  }
  kind_.means = TellsMeans(c.run);
  kind_.evaluation = ShowsEvaluations(c.run);
  kind_.classes = IsCrossEntropy(c.run);
  kind_.objective = NamesLoss(c.run) && !kind_.classes;
  levels_.best = HUGE_VALF;
  const LossReached* before = c.loss_before;
  const int64_t step = c.record.step;
  if (before == nullptr || step < before->last_step / 2) return;
  if (!(before->best > 0 && before->first > 0 && before->level > 0)) return;
  before_ = *before;
  levels_.first = LnOf(before->first);
  levels_.best = LnOf(before->best);
  healthy_ = LnOf(before->level);
  step_.healthy = before->level_step;
}

std::optional<LossReached> LossHighPlateau::Reached() const {
  if (levels_.unit > 0) return std::nullopt;
  if (records_ < kLevel) {
    if (before_.records == 0) return std::nullopt;
    LossReached reached = before_;
    reached.last_step = step_.newest;
    return reached;
  }
  return LossReached{.first = std::exp(levels_.first),
                     .best = std::exp(levels_.best),
                     .level = std::exp(healthy_),
                     .noise = levels_.noise * std::exp(healthy_),
                     .records = before_.records + records_,
                     .level_step = step_.healthy,
                     .last_step = step_.newest,
                     .high = high_ > 0};
}

Severity LossHighPlateau::NoteGuessing(const StepContext& c, Thresholds t) {
  const int64_t step = c.record.step;
  const int64_t covered = kind_.means ? step - step_.newest : 1;
  return guessing_.Add(static_cast<float>(c.record[StepField::kLoss]), step,
                       covered,
                       {.untrained = untrained_.loss(),
                        .exactly = untrained_.classes > 0,
                        .steps = t[kGuessingSteps],
                        .critical_steps = kGuessShare * t[kCriticalSteps]});
}

Severity LossHighPlateau::Ceiling(Thresholds t) const {
  if (records_ + before_.records < kLeastRecords) return Severity::kNone;
  if (levels_.unit > 0) return OfCrossing();
  const float first = std::exp(levels_.first);
  const float best = std::exp(levels_.best);
  const float level = std::exp(levels_.at);
  const float learned = first - best;
  const float lost = level - best;
  if (levels_.LearnedClearly() && learned >= kLearnedShare * first &&
      (lost >= t[kLostShare] * learned ||
       (level >= t[kRisen] * best && lost >= kRisenShare * learned))) {
    return Severity::kCritical;
  }
  const Severity above = AboveAll(t);
  if (above != Severity::kNone) return above;
  if (levels_.LearnedSome() && lost >= kMuchLost * learned &&
      levels_.at - levels_.best >=
          std::max(kMuchMore, kRisenNoise * levels_.noise)) {
    return Severity::kInfo;
  }
  if (before_.records == 0) return Severity::kNone;
  const bool risen = level >= t[kRisen] * before_.level;
  return high_ >= records_ - 1 && risen ? Severity::kWarning : Severity::kNone;
}

// It fell through 0 beyond its noise, and is back at what it began with.
Severity LossHighPlateau::OfCrossing() const {
  const float learned = levels_.first - levels_.best;
  const bool lost = kind_.objective && levels_.LearnedClearly() &&
                    levels_.at - levels_.best >= kAllLost * learned;
  return lost ? Severity::kCritical : Severity::kNone;
}

// Whatever was learned. Where that is little, or nothing, it may be a loss that
// is meant to grow, as a critic's with its rewards.
Severity LossHighPlateau::AboveAll(Thresholds t) const {
  if (levels_.at - levels_.best < kRisenNoise * levels_.noise ||
      levels_.first < LnOf(kTiny)) {
    return Severity::kNone;
  }
  const float times = std::exp(levels_.at - levels_.first);
  if (levels_.LearnedSome() && times >= t[kBlown]) return Severity::kCritical;
  return times >= 2 * t[kBlown] ? Severity::kWarning : Severity::kNone;
}

bool LossHighPlateau::IsAboveBest() const {
  const float best = std::exp(levels_.best);
  const float unsure = kCreptSure * levels_.noise * best / std::sqrt(kLevel);
  return levels_.unit == 0 && courses_.standing.last() - best >=
                                  std::max((kCrept - 1) * best, unsure);
}

bool LossHighPlateau::RisesEvenly() const {
  const float rise = courses_.standing.last() - std::exp(levels_.best);
  return courses_.standing.Creeps(kNoJump * rise);
}

bool LossHighPlateau::Crept() const {
  const int32_t n = courses_.standing.records();
  return kind_.classes && n >= kCreptFor && 3 * n >= records_ &&
         IsAboveBest() && RisesEvenly();
}

bool LossHighPlateau::Swings() const {
  const Course& sizes = courses_.standing;
  if (levels_.unit == 0 || sizes.records() < kLeastRecords) return false;
  const float wide = sizes.last();
  return wide >= kSizable && wide >= kWider * sizes.first() &&
         std::fabs(levels_.Loss(levels_.at)) <= wide / 2;
}

bool LossHighPlateau::LostAtRestart() const {
  return before_.records > 0 && high_ == records_ &&
         std::exp(levels_.at) + std::exp(levels_.best) >= 2 * before_.level;
}

Severity LossHighPlateau::TriggerOf(Severity ceiling, int64_t step,
                                    Thresholds t) const {
  if (LostAtRestart()) {
    return high_ >= t[kHold] ? ceiling
           : high_ >= kLevel ? Severity::kWarning
                             : Severity::kNone;
  }
  // So little may be harder data, which is learned: it is asked for after the
  // hold, and each time that the records have doubled.
  if (ceiling == Severity::kInfo) {
    const auto holds = [&t](int32_t records) {
      return static_cast<uint32_t>(static_cast<double>(records) / t[kHold]);
    };
    const bool asked =
        std::bit_width(holds(high_ - 1)) < std::bit_width(holds(high_));
    const bool stays =
        asked && !courses_.high.ComesDown(levels_.Loss(levels_.best));
    return stays ? Severity::kWarning : Severity::kNone;
  }
  const auto steps = static_cast<double>(step - step_.high);
  if (high_ >= t[kCriticalHold] && steps >= t[kCriticalSteps]) return ceiling;
  return high_ >= t[kHold] ? Severity::kWarning : Severity::kNone;
}

// Takes in a record that is high.
void LossHighPlateau::NoteHigh(const StepContext& c) {
  if (high_ > 0) {
    ++high_;
    courses_.high.Add(newest_);
    return;
  }
  const bool out = c.loss->out();
  const Excursion& x = c.loss->excursion();
  high_ = out ? std::min(x.values(), records_) : 1;
  courses_.high = out ? x.course() : Course();
  if (!out) courses_.high.Add(newest_);
  if (!guessing_.now()) step_.high = out ? x.step() : c.record.step;
}

inline Severity LossHighPlateau::NoteLevels(const StepContext& c,
                                            Thresholds t) {
  const Series& s = *c.loss;
  ++records_;
  if (before_.records == 0) {
    levels_.first = s.crosses_zero() ? kBefore : s.first();
  }
  levels_.at = s.stands();
  levels_.noise = s.level().noise();
  const bool begins =
      levels_.unit != s.unit() || (records_ > 1 && s.values() == 1);
  // With another objective begins another best level.
  const bool other = levels_.at - levels_.best >= kLeastRise &&
                     ObjectiveMoved(c.run, step_.best, c.record.step);
  const bool lower = s.values() >= kLevel && levels_.at < levels_.best;
  if (begins || other || lower) {
    levels_.best = levels_.at;
    levels_.calm = levels_.noise;
    step_.best = c.record.step;
    if (levels_.unit == 0 || s.unit() == 0) courses_.standing = Course();
  }
  levels_.unit = s.unit();
  courses_.standing.Add(levels_.unit > 0 ? std::fabs(newest_)
                                         : std::exp(levels_.at));
  if (records_ < kLeastRecords) {
    courses_.first.Add(newest_);
    if (records_ == 1 || newest_ < courses_.lowest) {
      courses_.lowest = newest_;
      step_.left = c.record.step;
    } else if (s.out()) {
      step_.left = std::max(step_.left, s.excursion().step());
    }
  }
  const bool back = s.out() && s.excursion().calm() > 1;
  const bool up = !back && levels_.at - levels_.best >= kLeastRise;
  const Severity ceiling = up ? Ceiling(t) : Severity::kNone;
  // It may have come up before enough records show it.
  const bool early = up && records_ + before_.records < kLeastRecords;
  if (ceiling == Severity::kNone && !early) {
    high_ = 0;
    healthy_ = levels_.at;
    step_.healthy = c.record.step;
    if (records_ % kLevel == 0) way_.creeps = Crept() || Swings();
    return way_.creeps ? Severity::kWarning : Severity::kNone;
  }
  way_.creeps = false;
  NoteHigh(c);
  stood_ = high_;
  told_ = levels_;
  if (early) return Severity::kNone;
  return TriggerOf(ceiling, c.record.step, t);
}

Severity LossHighPlateau::OnStep(const StepContext& c, Thresholds t) {
  const Series& s = *c.loss;
  if (!c.record.has(StepField::kLoss)) return episode_.severity();
  const float loss = static_cast<float>(c.record[StepField::kLoss]);
  if (!std::isfinite(loss)) return episode_.severity();  // loss_nonfinite's
  if (step_.newest < 0) Begin(c, t);
  const int64_t step = c.record.step;
  const Severity guesses =
      untrained_.loss() > 0 ? NoteGuessing(c, t) : Severity::kNone;
  if (guessing_.now() && high_ == 0) step_.high = guessing_.since();
  step_.newest = step;
  newest_ = loss;
  // What grows with its rewards has no level that could be lost.
  const bool has_level = s.values() > 0 && !s.follows_rewards() &&
                         !kind_.evaluation && !c.rate->probes() &&
                         (!s.crosses_zero() || before_.records == 0);
  const Severity lost = has_level ? NoteLevels(c, t) : Severity::kNone;
  const bool opens = !episode_.open();
  const Severity severity = episode_.On(
      std::max(lost, guesses), high_ == 0 && !guessing_.now() && !way_.creeps,
      step, t[kClear]);
  if (opens) about_ = About::kLost;
  if (opens && severity > Severity::kNone) {
    if (way_.creeps) {
      step_.high = step_.best;
      told_ = levels_;
      stood_ = courses_.standing.records();
    }
    episode_.OpenedAt(step_.high);
    about_ = guesses > Severity::kNone ? About::kGuessing
             : LostAtRestart()         ? About::kNotLoaded
             : way_.creeps             ? About::kCrept
                                       : About::kLost;
  }
  return severity;
}

}  // namespace nanwatch
