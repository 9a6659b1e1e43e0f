#include "detect/loss_not_decreasing.h"

#include <algorithm>
#include <cmath>

#include "detect/program.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr float kNoiseOfLevels = 0.31f;  // spreads; ours
constexpr float kNoiseOfBlocks = 1;  // spreads, of 16 losses against 128; ours
constexpr float kRisen = 1.1f;       // of the first level: it moved; ours
constexpr float kGuessing = 10.37f;  // ln 32000, as loss_high_plateau's
constexpr float kGuessed = 0.97f;    // of the first 16 losses; ours
constexpr int kGuesses = 64;         // losses; ours
constexpr int kSame = 50;            // losses; ours
constexpr int kSameZero = 16;        // losses of exactly 0, beside a rate; ours
constexpr float kSizable = 0.01f;    // printed in digits that would move; ours

constexpr ThresholdSpec kThresholds[] = {
    {"steps", 2000, 10, 1e9, "steps",
     "SageMaker asks after 10; a language model's warm-up takes 2000"},
    {"min_share", 0.001, 0, 1, "ratio",
     "SageMaker; at 1 % a fine-tuning that begins on its plateau would be "
     "accused"},
};

}  // namespace

constinit const RuleSpec LossNotDecreasing::kSpec = {
    RuleId::kLossNotDecreasing,
    "loss_not_decreasing",
    Family::kLoss,
    "The loss has not moved at all since the start.",
    "`steps` steps and 256 losses after the start of a run that was not "
    "resumed, the level of a positive loss was never a share of `min_share` "
    "below its first one (of 128 losses, or clearly below that of the first "
    "16), nor a tenth above it, and its noise could not hide that. A warning "
    "after half of `steps` and 64 losses of a language model's that is still "
    "at 10.37, which is guessing, and 97 % of the first 16 or more; "
    "and of any that is 0.01 or more and the same to the last digit in the "
    "first 50 records, with a gradient norm of 0: every batch has a loss of "
    "its own. So are 16 first records with a loss and a norm of exactly 0 "
    "beside a learning rate, of a program that trains on rewards.",
    "The loss falls by a share of `min_share`.",
    kThresholds,
    "\"Less than x % in so many steps\" describes every long run. So the "
    "rule asks once, from the start, and only where the loss moves less "
    "than 0.1 %, noise included. A language model that only guesses "
    "after 1000 steps is a warning. Where the optimizers of a rank have "
    "losses of their own (a GAN, an actor and its critic), the rule "
    "says no more than information: of 54 healthy GANs 24 had a warning "
    "and 4 a critical before."};

void LossNotDecreasing::Begin(const StepContext& c) {
  begun_ = true;
  first_step_ = c.record.step;
  settled_ = c.record.step > kResumed;
  language_ = TrainsLanguage(c.run);
  rewards_ = TrainsOnRewards(c.run);
}

bool LossNotDecreasing::Guesses(int64_t step, Thresholds t) const {
  return language_ && records_ >= kGuesses &&
         level_.center() >= std::max(kGuessing, kGuessed * start_) &&
         2 * static_cast<double>(step - first_step_) >= t[kSteps];
}

bool LossNotDecreasing::Stands(int64_t step, Thresholds t) {
  const auto share = static_cast<float>(t[kMinShare]);
  if (records_ == RobustBaseline::kBlock) start_ = level_.center();
  if (records_ == RobustBaseline::kWindow) first_ = level_.center();
  if (records_ < 2 * RobustBaseline::kWindow) return false;
  // Where a record stands for many steps, it fell within the first of them.
  const float noise = kNoiseOfBlocks * level_.spread();
  settled_ = first_ <= 0 || level_.center() < (1 - share) * first_ ||
             level_.center() < (1 - share) * start_ - noise;
  return !settled_ && level_.center() < kRisen * first_ &&
         static_cast<double>(step - first_step_) >= t[kSteps] &&
         kNoiseOfLevels * level_.spread() <= share * first_;
}

bool LossNotDecreasing::IsFrozen(const StepRecord& record, float loss) {
  if (records_ == 1) frozen_ = loss;
  const bool no_norm =
      record.has(StepField::kGradNorm) && record[StepField::kGradNorm] == 0;
  if (loss != frozen_ || !no_norm) frozen_ = kMoved;
  if (frozen_ == 0) {
    const bool trains = record.has(StepField::kLearningRate) &&
                        record[StepField::kLearningRate] > 0;
    return rewards_ && trains && records_ >= kSameZero;
  }
  return frozen_ >= kSizable && records_ >= kSame;
}

Severity LossNotDecreasing::OnStep(const StepContext& c, Thresholds t) {
  if (settled_) return Severity::kNone;
  const StepRecord& r = c.record;
  if (!begun_) Begin(c);
  // No update, nothing to learn from; overflow_streak and never_calibrated
  // speak of lost ones.
  const bool updates =
      c.scaler.fate() != Fate::kLost &&
      !(r.has(StepField::kLearningRate) && r[StepField::kLearningRate] == 0);
  if (!updates || !r.has(StepField::kLoss)) return episode_.severity();
  const float loss = static_cast<float>(r[StepField::kLoss]);
  if (!std::isfinite(loss)) return episode_.severity();
  level_.Add(loss);
  ++records_;
  const bool frozen = IsFrozen(r, loss);
  // Levels move every 16 losses.
  if (records_ % RobustBaseline::kBlock != 0 && !frozen) {
    return episode_.severity();
  }
  const bool stands =
      records_ % RobustBaseline::kBlock == 0 && Stands(r.step, t);
  froze_ |= frozen;
  if (froze_ && frozen_ == kMoved) settled_ = true;
  const bool warns = frozen || (!settled_ && Guesses(r.step, t));
  const Severity trigger = warns    ? Severity::kWarning
                           : stands ? Severity::kInfo
                                    : Severity::kNone;
  return episode_.OnSince(first_step_, trigger, settled_, r.step, 1);
}

void LossNotDecreasing::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The loss is ", static_cast<double>(level_.center()), " after ",
               finding->last_step - finding->opened_step, " steps and was ",
               static_cast<double>(first_ > 0 ? first_ : start_),
               " at the start: it has not moved at all. Look whether updates "
               "reach the weights.");
  finding->numbers = {{"loss", level_.center(), ""},
                      {"first", first_ > 0 ? first_ : start_, ""}};
}

}  // namespace nanwatch
