#include "detect/loss_spike.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "detect/float_log2.h"
#include "detect/program.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int kBaselineSamples = 64;  // losses; ours
// An explosion can be told from two losses, if they are not tiny (policy losses
// begin at 0 and grow) and it is ten times as large, or comes with overflows.
constexpr int kEarly = 32;          // losses; ours
constexpr float kEarlyFactor = 10;  // times the largest; ours
constexpr float kEarlyLoss = 0.1f;  // a loss; ours
// Times the largest, where an overflow was applied or came between: so the
// weights are spoilt step by step.
constexpr float kSpoilt = 3;       // ours
constexpr int kExplosionHold = 2;  // records; ours
// Of the median of the last 128: the loss falls so steeply that this is no
// level, and their spread is the descent's.
constexpr float kFarBehind = 0.5f;  // ours
// Healthy losses that show how steady a loss is, where there are hardly any.
constexpr int kFewest = 3;        // ours
constexpr float kSteady = 0.05f;  // of the largest: they hardly moved; ours
// Losses that wander through 0 have no level, and drift on for dozens of
// records: their deviations say less.
constexpr float kWanders = 1.5f;            // times the deviations; ours
constexpr float kOftenMemory = 1.0f / 256;  // of a record; ours
constexpr int kShortly = 8;                 // records in a row; ours
constexpr float kSeldom = 0.005f;  // of losses that stand out: a lone one; ours
constexpr float kNowAndThen = 0.06f;  // one in each epoch of 20 is 0.051; ours
// Records for which a high loss and a norm that warns belong together:
// gnorm_spike waits for three.
constexpr int16_t kWithNorm = 4;   // ours
constexpr int16_t kAfterNan = 64;  // records that are that one's; ours
// Of the level: the first of a spike that is nearly gone at its third record.
constexpr float kVastJump = 3;     // ours
constexpr float kChance = 20;      // bits: once in a million; ours
constexpr float kDecay = 0.1f;     // of the jump, between two halves; ours
constexpr float kSmooth = 0.25f;   // of a record; ours
constexpr float kStaysUp = 0.85f;  // of the highest jump; ours
// Where steps are not told, a record counts for one: as many records then.
constexpr int kAllLostHold = 56;      // records; ours
constexpr double kFewHold = 2.0 / 3;  // of lost_hold, of few losses; ours
constexpr float kTinyLoss = 0.01f;    // policies begin near 0 and grow; ours
// A training may double its loss for a dozen steps before it learns anything,
// as small GPT-2 runs do at the 20th.
constexpr float kHotRatio = 2.3f;   // times the usual loss; ours
constexpr float kHotHold = 14;      // records; ours
constexpr int64_t kResumed = 1000;  // steps; a first loss so late; ours
// A mean over so many steps is no single batch: two of them are news, and of a
// hundred steps one is.
constexpr int16_t kMany = 10;         // steps; ours
constexpr double kMeansHold = 2;      // records; ours
constexpr int16_t kVeryMany = 100;    // steps; ours
constexpr double kLongMeansHold = 1;  // records; ours
constexpr double kStaysShare = 0.2;   // of critical_steps, of few losses; ours
// The next stage of a curriculum is at its highest at once.
constexpr float kClimb = 0.5f;  // of the first record's jump, more; ours
constexpr float kClimbDeviations = 12;  // deviations; ours
constexpr float kClimbRatio = 1.3f;  // of the level; also beside a norm; ours
// Records at the end: where all before hardly differ; where the loss cannot be
// one that grows in health, as a critic's does; of others critical_hold.
constexpr double kSteadyEndHold = 8;   // ours
constexpr double kEndHold = 16;        // ours
constexpr float kLearnedShare = 0.5f;  // of the largest; ours
// A loss that left the level of just before, times that level, is a warning;
// and it is critical from kTailRatio on, or where a language model loses so
// many nats: it is e^2 times as perplexed.
// Harder data raise one by 1.4.
constexpr float kLiftWarning = 1.44f;  // ours
constexpr float kLiftFar = 1.45f;  // 1.5 of a level that still fell a bit; ours
constexpr float kLiftNats = 2;     // ours
constexpr float kLostHalf = 0.5f;  // of what was learned; ours
// The last losses, times those before (harder data raised a language model's by
// 1.65), and how many of them; losses before them in a table of a few.
constexpr float kTailRatio = 1.7f;  // ours
constexpr int32_t kTailHold = 4;    // records; ours
constexpr int32_t kTableMost = 12;  // records; ours
// Of fewer that are not steady a rise may be how it goes, as a generator's.
constexpr int32_t kTailBefore = 16;  // records; ours
constexpr int32_t kTailSteady = 8;   // where there are others; ours
// A training may double its loss at its 20th step, for a dozen.
constexpr int64_t kHotUntil = 100;  // steps; ours
// A language model's that climbs: by a third, and by a nat.
constexpr float kTailClimb = 1.25f;  // ratio; ours
constexpr float kTailNats = 1;       // ours

}  // namespace

bool LossSpike::early() const {
  return baseline_.samples() < kBaselineSamples ||
         (early_losses_.judges() &&
          early_losses_.level() < kFarBehind * baseline_.center());
}

bool LossSpike::Explodes(float size, bool overflowed, Thresholds t) const {
  if (samples_ < 2) return false;
  const bool early = samples_ < kEarly;
  if (early && largest_ < kEarlyLoss) return false;
  // A first reward makes a tiny loss ten times as large, and no trouble.
  return size > t[kExplosionRatio] * (early && !overflowed ? kEarlyFactor : 1) *
                    std::max(largest_, kEarlyLoss);
}

bool LossSpike::StandsOut(float loss, Thresholds t) const {
  if (samples_ < kFewest || smallest_ <= 0 || largest_ < kEarlyLoss) {
    return false;
  }
  return largest_ - smallest_ <= kSteady * largest_ &&
         loss >= t[kRatio] * largest_ &&
         loss - largest_ >= t[kZ] * (largest_ - smallest_);
}

bool LossSpike::IsHighEarly(float loss, Thresholds t) {
  const bool known = early_losses_.known() && smallest_ > 0 && loss > 0;
  stands_out_ = StandsOut(loss, t);
  const double goes_on = LeastHold(t) < t[kHold] ? 1 : t[kHold];
  const bool high = stands_out_ || early_losses_.IsHigh(loss) ||
                    (known && held_ >= goes_on &&
                     loss >= t[kWarningRatio] * early_losses_.level());
  // Not for every record: see EarlyLosses.
  z_ = high && known ? early_losses_.Deviations(loss) : 0;
  return high;
}

bool LossSpike::IsHigh(float loss, Thresholds t) {
  const float center = baseline_.center();
  const float least =
      std::max({0.01f * std::fabs(center), digit_.worth(), 1e-6f});
  const float spread = std::max(baseline_.spread(), least);
  z_ = (loss - center) / spread;
  calm_ = calm_ && (z_ < 3 || (center > 0 && loss < t[kClearRatio] * center));
  if (z_ < 0.75 * t[kZ]) return false;
  if (center <= 0 || smallest_ < 0) return z_ >= kWanders * t[kZ];
  // Noise that is a large part of the level has a long tail: there it is the
  // logarithm that tells.
  constexpr float kLn2 = 0.6931472f;  // ln 2
  if (kLn2 * Log2(loss / center) * center < 0.5f * t[kZ] * spread) return false;
  return z_ >= t[kZ] || loss >= t[kRatio] * center;
}

void LossSpike::OnHealthy(float loss) {
  often_ -= kOftenMemory * often_;
  if (held_ > 0 && held_ <= kShortly) {
    often_ += kOftenMemory * static_cast<float>(held_);
  }
  held_ = 0;
  // Exactly 0 from the beginning: policies whose losses are not there yet.
  if (loss == 0 && largest_ == 0) return;
  baseline_.Add(loss);
  if (early()) early_losses_.Add(loss);
  smallest_ = samples_ == 0 ? loss : std::min(smallest_, loss);
  largest_ = std::max(largest_, std::fabs(loss));
  if (samples_ < kEarly) ++samples_;
}

double LossSpike::LeastHold(Thresholds t) const {
  const double least = !means_ || gap_ < kMany ? t[kHold]
                       : gap_ < kVeryMany      ? kMeansHold
                                               : kLongMeansHold;
  return std::min(least, t[kHold]);
}

// So many in a row that chance makes them once in a million records.
float LossSpike::HoldOf(Thresholds t) const {
  auto hold = static_cast<float>(LeastHold(t));
  if (early_spike_ && !stands_out_) {
    hold += static_cast<float>(early_losses_.MoreToHold());
  }
  if (early_spike_ && !resumed_ && samples_ < kEarly &&
      peak_ < kHotRatio * usual_) {
    hold = std::max(hold, kHotHold);
  }
  if (often_ < kSeldom) return hold;
  return often_ < 0.5f ? std::max(hold, kChance / -Log2(often_)) : kChance;
}

// The second half of the first small_hold losses is below the first.
bool LossSpike::ComesDown() const {
  return late_ < early_ - kDecay * (early_ - usual_);
}

bool LossSpike::Climbs(float loss) const {
  return loss >= kClimbRatio * usual_ && z_ - z_start_ >= kClimbDeviations &&
         loss - start_ >= kClimb * (start_ - usual_);
}

void LossSpike::Begin(float loss, int64_t step) {
  far_ = stays_ = climbs_ = 0;
  peak_ = smooth_ = smooth_peak_ = start_ = loss;
  z_start_ = z_;
  early_ = late_ = 0;
  course_ = LossCourse();
  early_spike_ = early();
  first_step_ = step;
  if (!episode_.open()) high_for_ = 0;
}

void LossSpike::Follow(float loss, Thresholds t) {
  peak_ = std::max(peak_, loss);
  course_.Add(loss);
  smooth_ += kSmooth * (loss - smooth_);
  smooth_peak_ = std::max(smooth_peak_, smooth_);
  highest_ = !episode_.open() ? peak_ : std::max(highest_, peak_);
  loss_ = loss;
  z_high_ = z_;
  usual_ = early_spike_ && early_losses_.known() ? early_losses_.level()
           : baseline_.samples() > 0             ? baseline_.center()
                                                 : std::max(0.0f, smallest_);
  ++held_;
  high_for_ = std::max(high_for_, held_);
  far_ = loss >= t[kWarningRatio] * usual_ ? far_ + 1 : 0;
  const auto half = static_cast<int32_t>(t[kSmallHold]) / 2;
  if (held_ <= half) early_ += loss / static_cast<float>(half);
  if (held_ > half && held_ <= 2 * half) {
    late_ += loss / static_cast<float>(half);
  }
  const bool stays = loss >= usual_ + (peak_ - usual_) / 2 &&
                     (usual_ <= 0 || loss >= t[kCriticalRatio] * usual_);
  stays_ = stays ? stays_ + 1 : 0;
  climbs_ = Climbs(loss) ? climbs_ + 1 : 0;
}

bool LossSpike::IsCritical(int64_t steps, Thresholds t) const {
  if (stays_ < t[kHold] ||
      smooth_ < usual_ + kStaysUp * (smooth_peak_ - usual_)) {
    return false;
  }
  const auto spent = static_cast<double>(steps) / t[kCriticalSteps];
  if (held_ >= t[kCriticalHold] && spent >= 1) return true;
  // All is lost that was learned.
  const double least = early_spike_ ? kFewHold * t[kLostHold] : t[kLostHold];
  if (held_ < least || smooth_ <= largest_) return false;
  if (early_spike_) return !resumed_ || spent >= kStaysShare;
  return spent >= 0.5 || (!resumed_ && held_ >= kAllLostHold);
}

double LossSpike::EndHold(Thresholds t) const {
  if (early_spike_ && stands_out_) return kSteadyEndHold;
  return Learned() ? kEndHold : t[kCriticalHold];
}

bool LossSpike::Learned() const {
  return language_ || (smallest_ > 0 && smallest_ <= kLearnedShare * largest_);
}

Severity LossSpike::OfTail(Thresholds t) {
  std::optional<LossTail::Rise> rise = tail_.Jump();
  Severity severity = Severity::kNone;
  if (rise && !rise->comes_down && rise->records >= kTailHold &&
      rise->from >= kEarlyLoss && rise->last >= kTailRatio * rise->from) {
    const bool hot = !resumed_ && rise->step <= kHotUntil &&
                     rise->records < 2 * kHotHold &&
                     rise->last < kHotRatio * rise->from;
    // All that there is of a run, and published for it.
    const bool table = rise->all && rise->steady && rise->before >= kFewest &&
                       rise->before <= kTableMost;
    const double hold = Learned() ? kEndHold : t[kCriticalHold];
    const int32_t fewest = rise->all ? kFewest : kTailSteady;
    const bool level =
        rise->before >= kTailBefore || (rise->steady && rise->before >= fewest);
    if (!hot && level) {
      severity = table || rise->records >= hold ? Severity::kCritical
                                                : Severity::kWarning;
    }
  }
  if (severity == Severity::kNone && resumed_ && language_ && means_ &&
      gap_ >= kMany) {
    rise = tail_.Climb();
    if (rise && rise->steady && rise->last >= kTailClimb * rise->from &&
        rise->last >= rise->from + kTailNats) {
      severity = Severity::kWarning;
    }
  }
  if (severity <= episode_.severity()) return Severity::kNone;
  of_tail_ = true;
  first_step_ = rise->step;
  usual_ = rise->from;
  highest_ = rise->peak;
  loss_ = rise->last;
  high_for_ = rise->records;
  return severity;
}

Severity LossSpike::OfLift(double hold, double steps, Thresholds t) const {
  if (lift_.spiked()) {
    const bool far = lift_.peak() >= t[kWarningRatio] * lift_.from();
    const float least = std::max<float>(HoldOf(t), far ? 1 : kShortly);
    return baseline_.samples() >= kBaselineSamples &&
                   static_cast<float>(lift_.records()) >= least
               ? Severity::kWarning
               : Severity::kNone;
  }
  if (!lift_.lifted() || lift_.records() < hold ||
      static_cast<double>(last_step_ - lift_.step()) < steps ||
      !lift_.Stays()) {
    return Severity::kNone;
  }
  const float level = lift_.from();
  const float rise = lift_.last() - level;
  const float times = lift_.last() / level;
  const bool nats = language_ && rise >= kLiftNats;
  const bool half = !resumed_ && smallest_ > 0 &&
                    smallest_ <= kLearnedShare * largest_ &&
                    rise >= kLostHalf * (largest_ - smallest_);
  if (times >= kTailRatio || (times >= kLiftFar && (nats || half))) {
    return Severity::kCritical;
  }
  return times >= kLiftWarning ? Severity::kWarning : Severity::kNone;
}

void LossSpike::TellLift() {
  of_lift_ = true;
  of_tail_ = accepted_ = false;
  first_step_ = lift_.step();
  usual_ = lift_.from();
  highest_ = lift_.peak();
  loss_ = lift_.last();
  z_high_ = lift_.deviations();
  high_for_ = lift_.records();
}

Severity LossSpike::OnEnd(Thresholds t) {
  const Severity lift =
      Of(lift_.from(), lift_.peak(),
         OfLift(Learned() ? kEndHold : t[kCriticalHold], 0, t));
  if (lift > episode_.severity()) {
    TellLift();
    to_end_ = true;
    return episode_.OnSince(first_step_, lift, false, last_step_,
                            static_cast<int64_t>(t[kClear]));
  }
  // Back at the level that it left, over about four records: what is missing of
  // clear_after will not come.
  if (episode_.severity() == Severity::kWarning && held_ == 0 && calm_ &&
      !lift_.lifted() && usual_ > 0 && recent_ <= t[kClearRatio] * usual_) {
    episode_ = Episode();
    return Severity::kNone;
  }
  const auto usual = static_cast<double>(usual_);
  if (held_ < std::max<double>(EndHold(t), HoldOf(t)) || usual <= 0 ||
      far_ < t[kHold] || course_.last() < t[kCriticalRatio] * usual ||
      course_.ComesDown(usual_)) {
    const Severity tail = OfTail(t);
    if (tail == Severity::kNone) return episode_.severity();
    to_end_ = true;
    return episode_.OnSince(first_step_, tail, false, last_step_,
                            static_cast<int64_t>(t[kClear]));
  }
  to_end_ = true;
  return episode_.OnSince(first_step_, Severity::kCritical, false, last_step_,
                          static_cast<int64_t>(t[kClear]));
}

void LossSpike::Accept(float loss) {
  baseline_ = RobustBaseline();
  early_losses_ = EarlyLosses();
  largest_ = std::max(largest_, std::fabs(loss));
  smallest_ = std::min(smallest_, loss);
  held_ = 0;
}

Severity LossSpike::OnHigh(float loss, int64_t step, Thresholds t) {
  if (held_ == 0) Begin(loss, step);
  Follow(loss, t);
  const int64_t steps = step - first_step_;
  // As long as it may yet be critical it is no level.
  accepted_ = held_ >= 2 * RobustBaseline::kWindow &&
              (steps > t[kCriticalSteps] + t[kHold] ||
               smooth_ < t[kCriticalRatio] * usual_);
  if (accepted_) {
    Accept(loss);
    return Severity::kNone;
  }
  const bool vast = std::fabs(loss) > t[kExplosionRatio] * largest_;
  if ((exploded_ >= kExplosionHold && (vast || applied_)) ||
      IsCritical(steps, t)) {
    return Severity::kCritical;
  }
  if (exploded_ > 0 && vast && applied_) return Severity::kWarning;
  if (static_cast<float>(held_) < HoldOf(t)) return Severity::kNone;
  const bool far = usual_ <= 0 || static_cast<double>(far_) >= LeastHold(t) ||
                   climbs_ > 1 ||
                   (!early_spike_ && peak_ >= kVastJump * usual_);
  const auto half = static_cast<int32_t>(t[kSmallHold]) / 2;
  return far || (held_ >= 2 * half && !ComesDown()) ? Severity::kWarning
                                                    : Severity::kInfo;
}

float LossSpike::JumpsFrom(float ratio, bool again) const {
  const bool known = !early_spike_ || samples_ >= kEarly;
  const bool seldom = often_ < (again ? kNowAndThen : kSeldom);
  const bool jumps = held_ == 1 && known && gap_ < kMany && seldom &&
                     usual_ > 0 && loss_ >= ratio * usual_;
  return jumps ? usual_ : 0;
}

bool LossSpike::Returns() const {
  if (!episode_.open() || episode_.severity() == Severity::kCritical ||
      of_lift_ || accepted_) {
    return false;
  }
  return held_ > 0 ? course_.Falls(usual_) : calm_;
}

// apex#493: the scale falls and falls, and the loss rises with it.
bool LossSpike::RisesAsScaleFalls(float loss, const StepContext& c,
                                  Thresholds t) {
  const int32_t falls = c.scaler.falls();
  recent_ += kSmooth * (loss - recent_);
  if (falls == 0) {
    before_falls_ = recent_;
    risen_ = 0;
    return false;
  }
  // One lucky batch is no level.
  before_falls_ = std::min(before_falls_, recent_);
  const bool risen =
      before_falls_ >= kTinyLoss && loss >= t[kFallsRatio] * before_falls_;
  risen_ = risen ? risen_ + 1 : 0;
  if (risen_ == 1 && !episode_.open() && held_ == 0) {
    first_step_ = c.record.step;
  }
  return falls >= t[kFalls] && risen_ >= t[kHold];
}

bool LossSpike::LeavesFirst(float loss, int64_t step, Thresholds t) {
  if (!language_ || !resumed_) return false;
  return first_losses_.Add(loss, step, samples_ < kEarly,
                           {.above = t[kClearRatio],
                            .far = t[kRatio],
                            .hold = t[kLostHold],
                            .steps = kStaysShare * t[kCriticalSteps],
                            .stays = kStaysUp,
                            .steady = kSteady,
                            .least = kEarlyLoss});
}

Severity LossSpike::Judge(float loss, const StepContext& c, Thresholds t) {
  const int64_t overflows = c.scaler.updates() - c.scaler.good_steps();
  const bool overflowed = std::exchange(overflows_, overflows) < overflows;
  const float size = std::fabs(loss);
  const bool explodes = Explodes(size, overflowed, t);
  applied_ = c.scaler.applied_overflow();
  const bool spoilt = (applied_ || overflowed) && samples_ >= 2 &&
                      size > kSpoilt * std::max(largest_, kEarlyLoss) &&
                      (exploded_ == 0 || loss > loss_);
  exploded_ = explodes || spoilt ? exploded_ + 1 : 0;
  digit_.Note(loss);
  calm_ = exploded_ == 0;
  bool high = false;
  if (early()) {
    high = IsHighEarly(loss, t);
    calm_ = calm_ && !high;
  } else {
    high = IsHigh(loss, t);
  }
  if (high || exploded_ > 0) return OnHigh(loss, c.record.step, t);
  OnHealthy(loss);
  return Severity::kNone;
}

Severity LossSpike::Of(float level, float peak, Severity severity) const {
  if (severity < Severity::kWarning || !IsNothing(level, peak)) return severity;
  return severity == Severity::kCritical ? Severity::kWarning : Severity::kInfo;
}

Severity LossSpike::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLoss)) return episode_.severity();
  const float loss = static_cast<float>(c.record[StepField::kLoss]);
  if (!std::isfinite(loss)) {  // loss_nonfinite's, and what it leads to
    just_high_ = -kAfterNan;
    return episode_.severity();
  }
  if (!began_) {
    resumed_ = c.record.step > kResumed;
    means_ = TellsMeans(c.run);
    language_ = TrainsLanguage(c.run);
    last_step_ = c.record.step - 1;
    recent_ = loss;
  }
  began_ = true;
  if (restart_.Note(c.record)) {
    baseline_ = RobustBaseline();
    early_losses_ = EarlyLosses();
    tail_ = LossTail();
    lift_ = LossLift();
    held_ = 0;
  }
  gap_ = static_cast<int16_t>(
      std::clamp<int64_t>(c.record.step - last_step_, 1, kVeryMany));
  last_step_ = c.record.step;
  tail_.Add(loss, c.record.step);
  lift_.Add(loss, tail_);
  Severity trigger = Judge(loss, c, t);
  trigger = Of(usual_, peak_, trigger);
  if (just_high_ < 0) {
    ++just_high_;
  } else if (held_ > 0) {
    const bool far = !early_spike_ && peak_ >= kClimbRatio * usual_;
    just_high_ = far ? kWithNorm : 0;
  } else if (just_high_ > 0) {
    --just_high_;
  }
  // Its gradients say that it was no chance.
  if (just_high_ > 0 && c.norm_warns) {
    trigger = std::max(trigger, Of(usual_, peak_, Severity::kWarning));
  }
  if (trigger > episode_.severity()) of_lift_ = false;
  const Severity lift = Of(lift_.from(), lift_.peak(),
                           OfLift(t[kCriticalHold], t[kCriticalSteps], t));
  // Of other losses some wander: there the end must show that it stays.
  if (lift > std::max(trigger, episode_.severity()) &&
      (lift_.spiked() || (lift == Severity::kCritical && language_))) {
    trigger = lift;
    TellLift();
  }
  if (of_lift_ && lift_.lifted()) {
    calm_ = false;
    TellLift();
  }
  const bool left = LeavesFirst(loss, c.record.step, t);
  if (left) trigger = Severity::kCritical;
  if (left && !left_first_) first_step_ = first_losses_.left_step();
  if (RisesAsScaleFalls(loss, c, t)) {
    trigger = Severity::kCritical;
    falls_ = c.scaler.falls();
    rose_to_ = loss;
    rose_from_ = before_falls_;
    calm_ = false;
  }
  const bool opens = !episode_.open();
  if (opens && trigger < Severity::kCritical) falls_ = 0;
  left_first_ = left || (left_first_ && !opens);
  if (left_first_ && first_losses_.above()) calm_ = false;
  return episode_.OnSince(first_step_, trigger, calm_, c.record.step,
                          static_cast<int64_t>(t[kClear]));
}

void LossSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (falls_ > 0) {
    finding->sentence =
        Sentence("The loss rose from ", static_cast<double>(rose_from_), " to ",
                 static_cast<double>(rose_to_), " while ", falls_,
                 " overflows took the loss scale down, and it never grew.");
    finding->numbers = {{"loss", rose_to_, ""},
                        {"lowest", rose_from_, ""},
                        {"overflows", static_cast<double>(falls_), ""}};
    return;
  }
  if (left_first_) {
    const auto level = static_cast<double>(first_losses_.level());
    const auto risen_to = static_cast<double>(first_losses_.risen_to());
    const int32_t records = first_losses_.far_for();
    finding->SayBoth([&](Tense tense) {
      const bool is = first_losses_.above() && tense == Tense::kPresent;
      return Sentence("The loss rose from ", level,
                      ", where its records begin, to ", risen_to,
                      is ? " and is high for " : " and was high for ", records,
                      " records.");
    });
    finding->numbers = {{"loss", risen_to, ""},
                        {"usual", level, ""},
                        {"records", static_cast<double>(records), "records"}};
    return;
  }
  std::string rose =
      Sentence(of_tail_ ? "The loss rose to " : "The loss jumped to ",
               static_cast<double>(highest_));
  if (of_tail_ || of_lift_) {
    rose += Sentence(" from ", static_cast<double>(usual_));
  } else if (!early_spike_) {
    rose += Sentence(" from its usual ", static_cast<double>(usual_), " (",
                     static_cast<double>(z_high_), " robust deviations)");
  } else if (early_losses_.known()) {
    rose +=
        Sentence(" from its level so far, ", static_cast<double>(usual_), ",");
  } else {
    rose += Sentence(" (the largest healthy one was ",
                     static_cast<double>(largest_), ")");
  }
  const bool is_high = of_lift_ ? lift_.lifted() : held_ > 0 || of_tail_;
  finding->SayBoth([&](Tense tense) {
    const bool is = is_high && tense == Tense::kPresent;
    return rose +
           (accepted_
                ? Sentence(" and stayed there for ", high_for_,
                           " records: this is its level now.")
                : Sentence(is ? " and is high for " : " and was high for ",
                           high_for_, high_for_ == 1 ? " record" : " records",
                           to_end_ ? ", to the end." : "."));
  });
  finding->numbers = {{"loss", loss_, ""},
                      {"peak", highest_, ""},
                      {"usual", usual_, ""},
                      {"z", z_high_, "deviations"},
                      {"records", static_cast<double>(high_for_), "records"}};
}

}  // namespace nanwatch
