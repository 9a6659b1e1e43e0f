#include "detect/loss_not_decreasing.h"

#include <algorithm>
#include <cmath>

#include "detect/program.h"

namespace nanwatch {
namespace {

constexpr int32_t kKnown = 256;  // losses that show how it goes on; ours
constexpr float kStill = 0.01f;  // a fall that is none, chance included; ours
constexpr float kHighRate = 0.01f;  // no fine-tuning has it; ours
constexpr float kMoves = 0.05f;     // as kStill, at such a rate; ours
constexpr float kRounded = 0.003f;  // of the loss: a last digit hides it; ours
// Means over many steps, as epochs are, show it sooner.
constexpr float kSpread = 0.01f;     // from their lowest to their highest; ours
constexpr float kGuessing = 10.37f;  // ln 32000, as loss_high_plateau's
constexpr float kGuessed = 0.97f;    // of it, or of the first losses; ours
constexpr float kFell = 0.05f;       // of the first losses: it learned; ours
constexpr float kSure = 2;           // the same, of two of them; ours
constexpr int32_t kLines = 64;       // losses, where the rate is not told; ours
// Of guessing among classes in well-known data (two of anything, MNIST and
// CIFAR-10, nanoGPT's letters, CIFAR-100, ImageNet), and words of well-known
// tokenizers (BERT, Llama, GPT-2 and that padded, Llama 3, Qwen).
constexpr float kCosts[] = {
    0.693147182f,  // ln 2
    2.30258512f,   // ln 10
    4.17438745f,   // ln 65
    4.60517025f,   // ln 100
    6.90775537f,   // ln 1000
    10.3262033f,   // ln 30522
    10.3734913f,   // ln 32000
    10.8249054f,   // ln 50257
    11.7617836f,   // ln 128256
    11.9312143f,   // ln 151936
};
constexpr float kExactly = 0.004f;  // of guessing's cost, from it; ours
constexpr float kAbout = 0.01f;     // the same, where noise hides more; ours
constexpr float kNearly = 0.04f;    // the same of the first losses; ours
// Of a loss that no batch moves; if contrastive, among a power of two samples.
constexpr float kBadStart = 2;        // times it, of the first losses; ours
constexpr float kLn2 = 0.693147182f;  // of twice as many; ours
constexpr int kMostBatch = 17;        // log2 of it: 131,072; ours
constexpr float kToTheDigit = 2e-4f;  // of the cost, from it; ours
constexpr int kSame = 50;             // losses; ours
// Of noise of four last digits each is the one before by chance once in ten.
constexpr int kSameAgain = 20;       // losses that moved before; ours
constexpr int kSameAtEnd = 12;       // the same, of a log that is over; ours
constexpr int32_t kEndRecords = 32;  // of a log that is over; ours
constexpr int64_t kEndSteps = 200;   // ours
constexpr float kRisen = 0.0953f;    // ln 1.1: it moved; ours
// Adam's epsilon (1e-8) is above what each weight gets of it; ours.
constexpr double kNoGradient = 1e-6;  // a norm
constexpr int kSameZero = 16;      // losses of exactly 0, beside a rate; ours
constexpr float kSizable = 0.01f;  // printed in digits that would move; ours

// Returns what guessing among a well-known number of classes costs, if `loss`
// is that but for a share; else 0.
float CostOfGuessing(float loss, float share) {
  for (const float cost : kCosts) {
    if (std::fabs(loss - cost) <= share * cost) return cost;
  }
  return 0;
}

// The same among the samples of a batch.
float CostOfBatch(float loss) {
  const float samples = std::round(loss / kLn2);
  const float cost = samples * kLn2;
  const bool known =
      samples <= kMostBatch && std::fabs(loss - cost) <= kToTheDigit * cost;
  return known ? cost : 0;
}

// Speech recognition stands at its blanks for ten evaluations, and learns then.
constexpr int64_t kWorstScores = 16;  // evaluations; ours
constexpr float kRests = 0.02f;       // a fall that is none beside these; ours
constexpr int64_t kWorstAtOnce = 8;   // of a loss that never fell; ours
constexpr int64_t kBadNorms = 16;     // records; ours
constexpr int32_t kLeastScoreless = 12;  // records; ours
constexpr int32_t kEpochs = 10;          // ours
constexpr int32_t kShown = 16;           // records beside accuracies; ours
constexpr int32_t kAskedEach = 4;        // records; ours
constexpr int32_t kLookedAt = 16;        // records from look to look; ours
constexpr double kLearnsFor = 256;  // records that show how it goes on; ours

// No update, nothing to learn from; overflow_streak and never_calibrated speak
// of lost ones. A rate that is always 0 is one that was rounded, or the trouble
// itself.
bool Updates(const StepContext& c) {
  const bool no_rate =
      c.record.get(StepField::kLearningRate) == 0.0 && c.rate->highest() > 0;
  return c.scaler.fate() != Fate::kLost && !no_rate;
}

// It has no gradient.
bool HasNone(const StepRecord& r) {
  return r.has(StepField::kGradNorm) && r[StepField::kGradNorm] <= kNoGradient;
}

}  // namespace

void LossNotDecreasing::Begin(const StepContext& c, float loss) {
  first_step_ = c.record.step;
  newest_step_ = warm_step_ = first_step_;
  untrained_ = UntrainedLoss(c.run, kGuessing);
  classes_ = LossOfClasses(c.run, loss);
}

inline bool LossNotDecreasing::Waits(const StepContext& c, float loss,
                                     Thresholds t) {
  const StepRecord& r = c.record;
  const int64_t gap = r.step - newest_step_;
  newest_step_ = r.step;
  if (records_ == 2 && first_step_ > kResumed && first_step_ > gap) {
    settled_ = true;
  }
  means_ += records_ > 1 && std::fabs(c.loss->y() - first_) <= kSpread &&
            TellsMeansOfMany(c.run, gap);
  if (c.rate->rises()) {
    course_ = Course();
    warm_step_ = r.step;
  }
  course_.Add(loss);
  if (OnlyMeansThatStand()) return false;
  if (c.rate->highest() > 0 && course_.records() >= t[kGuesses]) return false;
  return course_.records() < kLines ||
         2 * static_cast<double>(r.step - warm_step_) < t[kSteps];
}

float LossNotDecreasing::Guesses(const StepContext& c) const {
  const float first = std::exp(first_);
  if (untrained_ > 0) {
    const float least = std::max(untrained_, kGuessed * first);
    return std::exp(level_) >= least ? untrained_ : 0;
  }
  // As far as means of a third of the losses are from theirs.
  const auto n = static_cast<float>(course_.records());
  const float noise = kSure * c.loss->level().noise() * std::sqrt(3 / n);
  const float near = course_.records() < kEndRecords
                         ? kExactly
                         : std::clamp(noise, kExactly, kAbout);
  const auto cost_of = [&](float loss) {
    if (std::fabs(loss - classes_) <= near * classes_) return classes_;
    const float cost = CostOfGuessing(loss, near);
    return cost > 0 || !IsSteady() ? cost : CostOfBatch(loss);
  };
  const float cost = cost_of(course_.last());
  const bool from_first =
      first <= (IsSteady() ? kBadStart : 1 + kNearly) * cost;
  const bool stays = cost > 0 && cost == cost_of(course_.middle()) &&
                     (from_first || AccuracyIsOfGuessing(c.run, cost));
  return stays ? cost : CostByEvaluations(c.run, course_.last());
}

inline bool LossNotDecreasing::Stands(const StepContext& c, Thresholds t,
                                      float cost) {
  const Series& s = *c.loss;
  const auto share = static_cast<float>(t[kMinShare]);
  if (OnlyMeansThatStand()) {
    return course_.last() >= (1 - share) * course_.first();
  }
  const int32_t n = course_.records();
  if (n < kEndRecords) {
    // It does not stand among its means any more.
    settled_ = about_ == About::kStands && episode_.open();
    return false;
  }
  const bool silent = IsSilent();
  // Of one that no batch moves the first records may have come down to it.
  const float noise = silent ? still_.moves() : s.level().noise();
  // Means of a third of the losses tell what single ones hide.
  const float unsure = kSure * noise * std::sqrt(6 / static_cast<float>(n));
  const float last = LnOf(course_.last());
  const float in_all = LnOf(course_.first()) - last;
  const float fall = silent ? LnOf(course_.middle()) - last : in_all;
  const bool fell =
      in_all >= kStill + unsure || first_ - last >= kFell + unsure ||
      (!silent && first_ - std::min(level_, s.best()) >= kStill + noise);
  settled_ = fell && cost == 0 && (episode_.open() || n >= kKnown);
  // A high rate moves whatever learns by more.
  const float most = c.rate->highest() >= kHighRate ? kMoves : kStill;
  const bool hidden =
      unsure > most || s.last_digit() > kRounded * std::exp(level_);
  return !fell && !hidden && fall < share + unsure &&
         s.stands() - s.first() < Series::kRise;
}

// Of a policy whose gradient is gone the scores tell whether it is done, or
// lost what it had.
bool LossNotDecreasing::IsFrozen(const StepContext& c) const {
  if (settled_ || still_.loss() != 0) return false;
  const bool never = records_ >= kSameZero &&
                     still_.without_gradient() >= records_ &&
                     c.rate->highest() > 0;
  return never ||
         (still_.LostGradient() && CountOf(c.run, "scores_lowest") > 0);
}

bool LossNotDecreasing::HasStopped(const StepContext& c) const {
  if (still_.records() < kSameAgain) return false;
  return still_.HadMoved(*c.loss) || (records_ >= kSame && NeverMoved());
}

// In more digits than a rounded one has.
bool LossNotDecreasing::NeverMoved() const {
  return !settled_ && still_.records() == records_ &&
         std::fabs(still_.loss()) >= kSizable &&
         still_.Digit() < LastDigit::kCoarsest;
}

// The accuracy beside it is that of guessing, or its means are to the digit
// what guessing costs: fewer records are enough.
bool LossNotDecreasing::SurelyGuesses(const StepContext& c) const {
  const int32_t n = course_.records();
  if (n < kEpochs) return false;
  const bool to_the_digit = n >= kShown &&
                            CostOfGuessing(course_.last(), kToTheDigit) > 0 &&
                            CostOfGuessing(course_.middle(), kToTheDigit) > 0;
  if (to_the_digit) return true;
  const bool evaluated = CostByEvaluations(c.run, course_.last()) > 0;
  const float cost = CostOfGuessing(course_.last(), kAbout);
  if (!evaluated && !AccuracyIsOfGuessing(c.run, cost)) return false;
  return TellsMeansOfMany(c.run, 1) ||
         n >= (evaluated || IsSteady() ? kShown : kLines);
}

// What it is called if no record follows.
Severity LossNotDecreasing::SameSoFar(const StepContext& c) const {
  if (records_ < kSameAtEnd || settled_) return Severity::kNone;
  if (NeverMoved() && (still_.IsPrecise() || records_ >= kEndRecords)) {
    return Severity::kWarning;
  }
  // Some policies have a loss of 0 by construction, and gradients.
  const bool none = still_.loss() == 0 && still_.records() == records_ &&
                    (!c.record.has(StepField::kGradNorm) ||
                     still_.without_gradient() == records_);
  if (!none) return Severity::kNone;
  return FollowsRewards(c.run) ? Severity::kInfo : Severity::kWarning;
}

// Of scores, however far the loss fell at first.
LossNotDecreasing::About LossNotDecreasing::ByEvaluations(
    const RunDescription& run) const {
  const float last = LnOf(course_.last());
  const bool stands = course_.records() >= kLeastScoreless &&
                      LnOf(course_.middle()) - last < kMoves &&
                      !MayStandFromStart(run);
  if (!stands) return About::kStands;
  const int64_t worst = first_ - last < kRests ? kWorstAtOnce : kWorstScores;
  if (CountOf(run, "scores_worst") >= worst) return About::kScoreless;
  if (LnOf(course_.first()) - last >= kMoves) return About::kStands;
  if (CountOf(run, "evaluations_same") > 0) return About::kUntouched;
  const int64_t bad_norms = CountOf(run, "norms_not_finite");
  return bad_norms >= std::max<int64_t>(records_ / 2, kBadNorms)
             ? About::kUnmoved
             : About::kStands;
}

Severity LossNotDecreasing::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (!Updates(c) || !r.has(StepField::kLoss)) return episode_.severity();
  const float loss = static_cast<float>(r[StepField::kLoss]);
  if (!std::isfinite(loss)) return episode_.severity();
  if (loss == 0 && LacksAccuracy(c.run)) {
    settled_ = true;
    return On(Severity::kNone, true, r.step);
  }
  if (records_ == 0) Begin(c, loss);
  const Series& s = *c.loss;
  still_.Note(loss, HasNone(r), r.step);
  if (!settled_) ++records_;
  at_end_.same = SameSoFar(c);
  if (IsFrozen(c) || HasStopped(c)) {
    about_ = About::kFrozen;
    return episode_.OnSince(still_.step(), Severity::kWarning, false, r.step,
                            1);
  }
  if (about_ == About::kFrozen) settled_ = true;
  level_ = s.crosses_zero() ? -HUGE_VALF : s.stands();
  if (settled_ || s.crosses_zero()) {
    at_end_ = {.same = at_end_.same};
    return On(Severity::kNone, true, r.step);
  }
  first_ = s.first();
  const bool waits = Waits(c, loss, t);
  // Not of each: it looks for a setting.
  if (records_ % kAskedEach == 0 || IsOfEvaluations()) {
    const About about = ByEvaluations(c.run);
    const bool found = about != About::kStands;
    if (found) about_ = about;
    if (found || (IsOfEvaluations() && episode_.open())) {
      return On(found ? Severity::kWarning : Severity::kNone, !found, r.step);
    }
  }
  const bool silent = IsSilent();
  const bool shows = r.step - first_step_ >= kEndSteps || silent;
  const bool over =
      (shows && course_.records() >= kEndRecords) || SurelyGuesses(c);
  if (waits && !over && !episode_.open()) return Severity::kNone;
  // Of a loss that stood so long the means hardly move from one to the next.
  const bool due =
      course_.records() < kKnown || course_.records() % kLookedAt == 0;
  if (!due) return On(episode_.severity(), false, r.step);
  const float cost = Guesses(c);
  const bool stands = Stands(c, t, cost) && !MayStandFromStart(c.run);
  const bool long_so =
      OnlyMeansThatStand() ||
      static_cast<double>(r.step - first_step_) >= t[kSteps] ||
      ((c.rate->highest() > 0 || silent) && course_.records() >= t[kGuesses]);
  at_end_.cost = over ? cost : 0;
  at_end_.stands = stands;
  const bool guesses = !waits && cost > 0;
  if (guesses) cost_ = cost;
  const bool warns = guesses || (!waits && stands && long_so);
  // A loss may rise by as much as its terms, its batches or its queue grow.
  const bool risen = !guesses && s.stands() - s.first() >= kRisen;
  const Severity trigger = !warns  ? Severity::kNone
                           : risen ? Severity::kInfo
                                   : Severity::kWarning;
  if (!episode_.open() || warns) {
    about_ = guesses ? About::kGuesses : About::kStands;
  }
  const bool clean = settled_ || (about_ == About::kGuesses && !guesses);
  return On(trigger, clean, r.step);
}

// What stood and learns is told a while longer: then it was no trouble.
Severity LossNotDecreasing::On(Severity trigger, bool clean, int64_t step) {
  return episode_.OnSince(first_step_, trigger, clean, step,
                          about_ == About::kFrozen ? 1 : kLearnsFor);
}

float LossNotDecreasing::Stood() const {
  return about_ == About::kGuesses ? LnOf(cost_) : first_;
}

bool LossNotDecreasing::Learns() const {
  return level_ <= Stood() + LnOf(kLearned);
}

// A log that is over shows no more.
Severity LossNotDecreasing::OnEnd(Thresholds) {
  if (HasLeft() && !Learns()) episode_.End();
  if (settled_ || episode_.open()) return episode_.severity();
  if (at_end_.same > Severity::kNone) {
    about_ = About::kFrozen;
    return episode_.OnSince(still_.step(), at_end_.same, false, newest_step_,
                            1);
  }
  if (at_end_.cost > 0) {
    cost_ = at_end_.cost;
    about_ = About::kGuesses;
  } else if (!at_end_.stands) {
    return Severity::kNone;
  }
  return episode_.OnSince(first_step_, Severity::kWarning, false, newest_step_,
                          1);
}

}  // namespace nanwatch
