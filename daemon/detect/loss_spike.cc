#include "detect/loss_spike.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "detect/float_log2.h"
#include "detect/other_objective.h"
#include "detect/program.h"

namespace nanwatch {
namespace {

constexpr int16_t kMany = 10;       // steps of a mean: no single batch; ours
constexpr int16_t kVeryMany = 100;  // steps of a mean: many batches; ours
constexpr float kOfOne = 3.4f;      // ln 30, of a rise from one value; ours
constexpr int16_t kWithNorm = 4;    // records; ours: gnorm_spike waits for 3
constexpr float kNewsNats = 3;      // nats: a record that stands out; ours
constexpr int16_t kAfterNan = 64;   // records that a NaN explains; ours
constexpr float kNormRatio = 1.3f;  // times the level, beside a norm; ours
constexpr float kTiny = 0.01f;      // a loss: policies begin near 0; ours
constexpr float kAnew = 0.05f;      // of the first losses, from them; ours
constexpr int32_t kSettled = 24;    // records; ours
constexpr float kBelow = 0.8f;      // of the first losses: far; ours
constexpr float kThere = 0.97f;     // of the third before: it stands; ours
constexpr float kNothing = 0.05f;   // of the first losses; as Series::kAll
constexpr float kNatsLost = 2;      // of words: e^2 times as perplexed; ours
// Small GPT-2 runs may double their loss at their 20th step for a dozen.
constexpr int32_t kHotValues = 32;  // losses; ours
constexpr int32_t kHotHold = 16;    // records; ours
constexpr float kHotRatio = 2.3f;   // times the level; ours
// A rate too high from the first step on: no loss is better than the first.
constexpr int32_t kFreshValues = 10;  // losses before it rises; ours
constexpr int32_t kYoungValues = 64;  // losses; ours: a run that has just begun
constexpr int32_t kFreshHold = 12;    // records; ours
constexpr float kFar = 6;             // deviations of the losses since; ours
constexpr float kNothingLearned = 0.0953f;  // ln 1.1; ours
constexpr int32_t kStuckValues = 200;       // losses that show learning; ours
constexpr float kAbsurdRise = 3;  // ln 20, ours: of 27 trainings on rewards
constexpr float kRivalFar = 3;    // ln 20, ours: none costs so much in a game
constexpr float kVast = 1000;     // a loss; ours: those of a start are small
constexpr float kSpoilt = 3;  // times the highest, as weights are spoilt; ours
constexpr float kEarlyFactor = 10;     // of few losses, or of one; ours
constexpr int16_t kExplosionHold = 2;  // records; ours
constexpr int32_t kEndHold = 8;        // records at the end; ours
constexpr int32_t kLongHold = 56;      // records, where steps are few; ours
constexpr float kSeldom = 0.01f;       // share of losses that stand out; ours
constexpr float kOften = 0.06f;        // one in each epoch of 20 is 0.051; ours
constexpr int32_t kFewLast = 24;  // records: a last third may be chance; ours

}  // namespace

bool LossSpike::IsNothing(float loss) const {
  return std::fabs(loss) < kNothing * jump_.first;
}

float LossSpike::JumpsFrom(float ratio, bool again) const {
  const bool seldom = kind_.outliers < (again ? kOften : kSeldom);
  const bool jumps = held_ == 1 && seldom && jump_.usual > 0 &&
                     jump_.loss >= ratio * jump_.usual;
  return jumps ? jump_.usual : 0;
}

// A mean over many steps is no single batch.
double LossSpike::HoldOf(const StepContext& c, Thresholds t) const {
  const double hold = gap_ < kMany || !TellsMeans(c.run) ? t[kHold]
                      : gap_ < kVeryMany                 ? 2
                                                         : 1;
  return std::min(hold, t[kHold]);
}

inline bool LossSpike::Note(const StepContext& c) {
  const Series& s = *c.loss;
  const int64_t gap = last_step_ < 0 ? 1 : c.record.step - last_step_;
  gap_ = static_cast<int16_t>(std::clamp<int64_t>(gap, 1, kVeryMany));
  last_step_ = c.record.step;
  const int64_t overflows = c.scaler.updates() - c.scaler.good_steps();
  kind_.overflowed = std::exchange(overflows_, overflows) < overflows;
  kind_.outliers = s.outliers();
  const bool was_up = std::exchange(held_, 0) > 0;
  back_ = true;
  jump_.loss = s.newest();
  jump_.absurd = false;
  if (s.out()) {
    const Excursion& x = s.excursion();
    if (x.calm() == 0) held_ = x.above();
    back_ = x.calm() > 1;
    NoteLevel(s, was_up);
    jump_.step = x.step();
    jump_.usual = s.ValueAt(x.base());
    jump_.peak = s.ValueAt(x.peak());
    jump_.nats = x.nats();
    jump_.records = x.above();
    const float there = (1 - kAnew) * jump_.first;
    jump_.anew = x.jumped() && jump_.peak >= there;
    jump_.resumed =
        jump_.anew && ResumedAfter(c.run, x.step() - 2 * gap_, x.step());
    jump_.anew &= jump_.resumed ||
                  (s.values() > kYoungValues && s.ValueAt(x.entry()) >= there &&
                   jump_.peak <= (1 + kAnew) * s.ValueAt(s.highest()));
    const float last = x.course().last();
    jump_.settles = x.values() >= kSettled && last <= kBelow * jump_.first &&
                    last >= kThere * x.course().middle();
  }
  return was_up;
}

void LossSpike::NoteLevel(const Series& s, bool was_up) {
  jump_.first = s.ValueAt(s.first());
  jump_.highest = std::max(std::fabs(s.ValueAt(s.highest())),
                           std::fabs(s.ValueAt(s.lowest())));
  if (!s.out() && !was_up) jump_.usual = s.ValueAt(s.level().at());
}

// Effect: is it far above, or is much lost?
bool LossSpike::Matters(const StepContext& c, float rise, Thresholds t) {
  const Series& s = *c.loss;
  const float base = s.excursion().base();
  const float to = base + rise;
  if (s.crosses_zero()) {
    // What wanders through 0 has no level, but may lose all it had.
    return s.has_lost_all() || to > s.highest() + t.Ln(kExplosionRatio);
  }
  return rise >= t.Ln(kRatio) || (TrainsLanguage(c.run) &&
                                  s.ValueAt(to) - s.ValueAt(base) >= kNatsLost);
}

bool LossSpike::HasOtherObjective(const StepContext& c) const {
  return nanwatch::HasOtherObjective(c.run, *c.loss, gap_);
}

bool LossSpike::Explodes(const StepContext& c, Thresholds t) {
  const Series& s = *c.loss;
  float largest = std::max(jump_.highest, 10 * kTiny);
  const float began = std::fabs(s.excursion().course().first());
  if (began > largest && HasOtherObjective(c)) largest = began;
  const float size = std::fabs(s.newest());
  const float times = s.follows_rewards() ? 0 : size / largest;
  const float factor = s.level().values() < kHotValues ? kEarlyFactor : 1;
  const bool no_noise = s.values() <= kFewLast && jump_.highest >= largest &&
                        times > t[kExplosionRatio] * kEarlyFactor;
  if (no_noise) at_end_ = std::max(at_end_, Severity::kWarning);
  const bool applied = c.scaler.applied_overflow();
  const bool spoilt = (applied || kind_.overflowed) && s.values() > 2 &&
                      size > kSpoilt * largest;
  const bool vast = spoilt || times > t[kExplosionRatio] * factor;
  exploded_ = vast ? exploded_ + 1 : 0;
  return exploded_ >= kExplosionHold &&
         (size > t[kExplosionRatio] * largest || applied);
}

// What a short rise, or one with its rewards, may be in health.
bool LossSpike::IsUsual(const StepContext& c, float rise) {
  const Series& s = *c.loss;
  const Excursion& x = s.excursion();
  // An evaluation's rises as data are learned by heart.
  if ((s.recurs() && s.every() == 0) || ShowsEvaluations(c.run)) return true;
  if (s.begins_late()) return false;
  const bool hot = s.level().values() <= kHotValues &&
                   (x.values() < kHotHold || s.comes_down()) &&
                   rise < LnOf(kHotRatio);
  return hot || (s.follows_rewards() && !s.kept_a_level());
}

// Of a run that goes on the first record alone is no level: a mean over what
// the end of the attempt before left of an interval, a sum of fewer batches.
bool LossSpike::LeftOneValue(const StepContext& c) {
  const Series& s = *c.loss;
  return s.begins_late() && s.level().values() == 1 && !s.climbs() &&
         s.rise() < kOfOne && s.excursion().step() < 2 * c.first_step;
}

// It stays up: by how much of the training that is, and what is lost.
bool LossSpike::IsLost(const Series& s, int64_t step, Thresholds t) const {
  const Excursion& x = s.excursion();
  const auto steps = static_cast<double>(step - x.step());
  const float to = x.base() + s.rise();
  // No loss was better than the first, and it goes up.
  const bool fresh =
      !s.begins_late() && s.values() - x.values() <= kFreshValues;
  if (fresh && to - s.first() >= Series::kRise && x.values() >= kFreshHold) {
    return true;
  }
  if (x.nats() < t[kCriticalNats]) return false;
  if (x.values() >= t[kCriticalHold] && steps >= t[kCriticalSteps]) return true;
  const bool young = !s.begins_late() && s.level().values() <= kYoungValues;
  return to > s.highest() && x.values() >= t[kLostHold] &&
         (young || steps >= t[kCriticalSteps] / 2 || x.values() >= kLongHold ||
          s.rise() >= t.Ln(kExplosionRatio));
}

// Of losses that keep no level. A rival's leaps where it had won, or did not
// play; beside a critic none has one. None grows ten thousandfold in health.
bool LossSpike::LeavesAll(const StepContext& c, Thresholds t) const {
  const Series& s = *c.loss;
  const Excursion& x = s.excursion();
  if (c.level != LevelKind::kOfRivals && c.level != LevelKind::kOfRewards) {
    return false;
  }
  if (x.above() < t[kHold] || x.nats() < t[kCriticalNats]) return false;
  const float to = x.base() + s.rise();
  if (to >= s.highest() + Series::kBeyondRewards && s.ValueAt(to) >= kVast) {
    return true;
  }
  const bool leaps =
      c.level == LevelKind::kOfRewards ||
      (!c.has_critic && x.jumped() && s.values() - x.values() > kYoungValues &&
       x.base() + x.mean_rise() >= kRivalFar);
  return leaps && x.mean_rise() >= kAbsurdRise &&
         x.base() + x.mean_rise() >= s.highest() + t.Ln(kExplosionRatio);
}

// A rate that is too high for fresh weights throws the loss up. Where it comes
// back, it is well again only when it learns.
inline Severity LossSpike::NoteStuck(const Series& s, Thresholds t) {
  kind_.stuck = 0;
  const bool tiny = s.first() < LnOf(kTiny);
  if (s.risen() < t[kHold] || s.crosses_zero() || tiny) return Severity::kNone;
  const float rise = s.risen_peak() - s.first();
  const bool late = s.values() >= kStuckValues;
  const float enough =
      late && rise >= LnOf(kHotRatio) ? Series::kRise : kNothingLearned;
  if (s.first() - s.stands() >= enough) return Severity::kNone;
  kind_.stuck = s.ValueAt(s.stands());
  const bool noise = rise < kFar * s.level().scatter();
  if (s.out() || noise) return Severity::kNone;
  if (!episode_.open()) {
    told_ = {.step = s.risen_step(),
             .usual = s.ValueAt(s.first()),
             .loss = s.newest(),
             .peak = s.ValueAt(s.risen_peak()),
             .records = s.risen()};
  }
  if (late) return Severity::kWarning;
  // Tasks that take turns rise twofold.
  if (rise >= t.Ln(kExplosionRatio)) {
    at_end_ = std::max(at_end_, Severity::kWarning);
  }
  return Severity::kNone;
}

Severity LossSpike::OfExcursion(const StepContext& c, Thresholds t) {
  const Series& s = *c.loss;
  const Excursion& x = s.excursion();
  const double hold = HoldOf(c, t);
  const bool chance = x.values() < kFewLast && hold == t[kHold];
  const float rise = chance ? x.mean_rise() : s.rise();
  const bool tiny = jump_.usual < kTiny && jump_.highest < kTiny;
  if (rise < t.Ln(kClearRatio) || (tiny && !s.crosses_zero())) {
    return Severity::kNone;
  }
  const bool usual = IsUsual(c, rise) || HasOtherObjective(c);
  const bool news = !usual && !s.recurs() && Matters(c, s.rise(), t);
  if (news && x.bare_nats() >= t[kEndNats]) {
    at_end_ = Severity::kWarning;
  }
  // Nothing was loaded: it learns what it knew before. One look is taken.
  if (jump_.resumed && x.bare_nats() >= t[kEndNats] && x.above() >= 2) {
    return Severity::kCritical;
  }
  // A mean over many steps is as much evidence as those.
  if (x.nats() < t[kNats] * hold / t[kHold] || x.above() < hold) {
    return Severity::kNone;
  }
  if (usual || !Matters(c, rise, t)) return Severity::kInfo;
  const bool lasts = x.nats() >= t[kCriticalNats] && x.values() >= kEndHold;
  // Whether rewards wake it or it diverges, its course does not tell.
  const bool unsure =
      s.has_lost_all() || s.follows_rewards() || LeftOneValue(c);
  if (s.comes_down() || unsure) return Severity::kWarning;
  if (lasts) at_end_ = Severity::kCritical;
  return IsLost(s, c.record.step, t) ? Severity::kCritical : Severity::kWarning;
}

// Its gradients say that a record which stands out was no chance.
bool LossSpike::StandsOutWithNorm(const StepContext& c) {
  const Series& s = *c.loss;
  const bool out =
      s.out() &&
      s.excursion().peak() - s.excursion().base() >= LnOf(kNormRatio) &&
      s.excursion().nats() > kNewsNats;
  if (beside_norm_ < 0) {
    ++beside_norm_;
  } else if (out) {
    beside_norm_ = kWithNorm;
  } else if (beside_norm_ > 0) {
    --beside_norm_;
  }
  return beside_norm_ > 0 && c.norm_warns;
}

// The next record shows that it was alone.
bool LossSpike::IsWildAgain(const StepContext& c) {
  const bool wild = jump_.IsWild() && c.loss->excursion().calm() == 1 &&
                    c.level == LevelKind::kKept;
  if (wild && kind_.wild < kWildRecords) ++kind_.wild;
  return wild && kind_.wild == kWildRecords;
}

// Of a loss that is not back at its level for sure.
Severity LossSpike::OfOut(const StepContext& c, Thresholds t) {
  const Series& s = *c.loss;
  jump_.absurd = LeavesAll(c, t);
  const Severity severity = s.excursion().calm() == 0 ? OfExcursion(c, t)
                            : IsWildAgain(c)          ? Severity::kWarning
                                                      : Severity::kNone;
  return Explodes(c, t) || jump_.absurd ? Severity::kCritical : severity;
}

inline Severity LossSpike::Judge(const StepContext& c, bool was_up,
                                 Thresholds t) {
  const Series& s = *c.loss;
  at_end_ = Severity::kNone;
  if (!s.out()) exploded_ = 0;
  if (c.rate->probes()) return Severity::kNone;
  Severity severity = s.out() ? OfOut(c, t) : Severity::kNone;
  const bool vast = exploded_ > 0 && c.scaler.applied_overflow() &&
                    std::fabs(s.newest()) > t[kExplosionRatio] * jump_.highest;
  if (vast || (StandsOutWithNorm(c) && !HasOtherObjective(c))) {
    severity = std::max(severity, Severity::kWarning);
  }
  if (severity < Severity::kWarning) return severity;
  if (!s.out()) NoteLevel(s, was_up);
  if (!IsNothing(jump_.peak)) return severity;
  at_end_ = std::min(at_end_, Severity::kWarning);
  return Severity::kInfo;
}

Severity LossSpike::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLoss)) return episode_.severity();
  if (!std::isfinite(c.record[StepField::kLoss])) {
    beside_norm_ = -kAfterNan;  // loss_nonfinite's, and what it leads to
    if (held_ > 0 && told_.broken < 0) told_.broken = c.record.step;
    return episode_.severity();
  }
  const Series& s = *c.loss;
  if (s.values() == 0) return episode_.severity();
  const bool was_up = Note(c);
  told_.broken = -1;
  Severity trigger = Judge(c, was_up, t);
  const bool falls = fall_.Add(
      s.newest(), c,
      {.falls = t[kFalls], .ratio = t[kFallsRatio], .hold = t[kHold]});
  if (falls) {
    trigger = Severity::kCritical;
    if (!s.out()) NoteLevel(s, was_up);
  }
  if (falls || !episode_.open()) falls_ = falls;
  if (trigger > episode_.severity() || (s.out() && jump_.step == told_.step)) {
    told_ = jump_;
  }
  if (trigger >= std::max(episode_.severity(), Severity::kInfo)) {
    kind_.returns = static_cast<int16_t>(s.recurs() ? s.returns() : 0);
    kind_.every = static_cast<int16_t>(s.every());
    kind_.first_alone = s.out() && LeftOneValue(c);
  }
  trigger = std::max(trigger, NoteStuck(s, t));
  const bool back =
      exploded_ == 0 && !falls && (!s.out() || s.height() < t.Ln(kClearRatio));
  const Severity now = episode_.OnSince(
      told_.step, trigger, back && kind_.stuck == 0, c.record.step, t[kClear]);
  returns_ = episode_.open() && now < Severity::kCritical &&
             (s.out() ? s.excursion().course().Falls(jump_.usual) : back);
  return now;
}

Severity LossSpike::OnEnd(Thresholds t) {
  // Back at its level: what is missing of clear_after will not come.
  if (episode_.severity() == Severity::kWarning && back_ && kind_.stuck == 0) {
    episode_.End();
    return Severity::kNone;
  }
  if (at_end_ > episode_.severity()) {
    if (kind_.stuck == 0 || told_.records == 0) told_ = jump_;
    to_end_ = held_ > 0;
    return episode_.OnSince(told_.step, at_end_, false, last_step_, t[kClear]);
  }
  to_end_ = held_ > 0;
  return episode_.severity();
}

}  // namespace nanwatch
