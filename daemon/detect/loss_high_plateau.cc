#include "detect/loss_high_plateau.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "detect/program.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int kBlock = RobustBaseline::kBlock;
constexpr int kLeastBlocks = 8;        // blocks; ours
constexpr float kLearnedShare = 0.5f;  // of the first level; ours
constexpr float kLearnedNoise = 8;     // deviations; ours
constexpr float kRisenNoise = 4;  // of single losses; levels are medians; ours
constexpr float kSomeLearned = 0.25f;  // of the first level; ours
constexpr float kAllLost = 0.85f;      // of it, of a language model's; ours
constexpr float kRuined = 100;         // times the first level; ours
constexpr float kTiny = 0.1f;          // first levels that say nothing; ours
constexpr float kRisenShare = 0.2f;    // a tiny loss may double in health; ours
constexpr int kEndBlocks = 2;          // blocks; ours
constexpr float kEndsHigh = 1.42f;     // times the best; harder data: 1.4; ours
// Worse than guessing: fewer records show no course; and it is back at less of
// the jump.
constexpr int32_t kGuessRecords = 5;  // records; ours
constexpr double kGuessShare = 0.5;   // of critical_steps; ours
constexpr float kBack = 0.1f;         // of it; ours

// Of a block's `index`-th loss, if they came evenly.
int64_t StepOf(int index, int64_t first, int64_t last) {
  return first + (last - first) * index / (kBlock - 1);
}

constexpr ThresholdSpec kThresholds[] = {
    {"lost_share", 0.5, 0.1, 1, "ratio",
     "ours; llm-foundry waits for all of it, but a diverged language model "
     "often ends at the loss of single words, below its first one"},
    {"hold", 64, 16, 100000, "records",
     "ours: tr1-13B's spike lost it briefly"},
    {"critical_hold", 256, 16, 100000, "records", "ours"},
    {"guessing", 10.37, 0.1, 100, "nats",
     "ln 32000, of Llama; ln 50257 = 10.8 of GPT-2; llm-foundry: 10"},
    {"guessing_steps", 5, 1, 100000, "steps", "llm-foundry: patience 4"},
    {"clear_after", 64, 1, 100000, "records", "ours"},
    {"risen", 1.75, 1.1, 1000, "ratio",
     "ours, of medians of 16; harder data raised a language model's by 1.65"},
    {"blown", 2, 1.1, 1000, "ratio",
     "ours, of the first level; that of a critic whose rewards grow doubles"},
    {"critical_steps", 500, 1, 1e9, "steps",
     "tr1-13B recovered within 500 steps"},
};

}  // namespace

constinit const RuleSpec LossHighPlateau::kSpec = {
    RuleId::kLossHighPlateau,
    "loss_high_plateau",
    Family::kLoss,
    "The loss has lost what the training had learned, and stays there.",
    "For hold records the loss is so high that lost_share of what was learned "
    "since the first records is lost (where that is less than half of the "
    "first loss: 85 % of it, of a language model's), or it is risen times the "
    "best and a fifth is lost, or blown times the first level where a quarter "
    "of that was "
    "learned (else twice blown, a warning; critical at 100 times it, or at "
    "blown times guessing); critical for critical_hold records over "
    "critical_steps steps. A warning when a language model that was better is "
    "worse than guessing (the logarithm of its vocabulary, else guessing) for "
    "guessing_steps steps; critical after half of critical_steps, of 5 records "
    "that do not come down, or where it is not back at its level when the log "
    "ends. "
    "Right after a restart that goes on with the steps: after 16 records, "
    "critical for hold; or a warning at risen times the level before it. At "
    "the end of a log critical for 32 records that do not come down, where it "
    "is risen times the best or 85 % of what was learned is lost, but not "
    "right after a restart; a warning where a language model's is 1.42 times "
    "the best.",
    "Lower for clear_after records. A level that stays is not taken for "
    "healthy, however long.",
    kThresholds,
    "llm-foundry's limit (the first window, or 10) misses a language model "
    "that ends at the loss of single words, and accuses critics and "
    "generators. Here the limit is a share of what was learned, for runs that "
    "learned much more than their noise. For language models it is also the "
    "loss of guessing, which needs no history: a warning, since spikes go "
    "there for a line and come back, and critical after 250 steps without a "
    "way back or where the log ends before it is back. 1.75 times the best "
    "level with a fifth of what was learned lost counts as well: a loss that "
    "doubles slowly. A level that stays high is never taken for healthy. A "
    "restart that goes on with the steps (from half of the newest on, and not "
    "from step 1) goes on with the levels of the attempt before, so a "
    "checkpoint that was not loaded is found after one block of 16. Where the "
    "optimizers of a rank have losses of their own (a GAN, an actor and its "
    "critic), the rule says no more than information: of 54 healthy GANs 24 "
    "had a warning and 4 a critical before."};

// The steps go on where an attempt before stood, so the model should, too. Far
// back, or from the first step on, it may be trained anew.
void LossHighPlateau::GoOn(const LossReached& before, int64_t step) {
  if (step <= 1 || step < before.last_step / 2) return;
  first_ = static_cast<float>(before.first);
  best_ = static_cast<float>(before.best);
  level_ = healthy_ = before_ = static_cast<float>(before.level);
  noise_ = static_cast<float>(before.noise);
  blocks_ = static_cast<int16_t>(
      std::clamp<int64_t>(before.records / kBlock, 0, INT16_MAX));
  healthy_step_ = before_step_ = before.level_step;
  before_high_ = before.high;
  resumed_ = true;
}

std::optional<LossReached> LossHighPlateau::Reached() const {
  if (blocks_ == 0) return std::nullopt;
  return LossReached{.first = first_,
                     .best = best_,
                     .level = healthy_,
                     .noise = noise_,
                     .records = int64_t{blocks_} * kBlock,
                     .level_step = healthy_step_,
                     .last_step = last_step_,
                     .high = high_ > 0};
}

Severity LossHighPlateau::Guesses(float loss, int64_t step, Thresholds t) {
  const int64_t gap = last_step_;
  if (loss > 0) lowest_ = lowest_ > 0 ? std::min(lowest_, loss) : loss;
  // It was clearly better before.
  if (loss < untrained_ || lowest_ > 0.75f * untrained_) {
    guessing_ = 0;
    if (loss <= guess_from_ + kBack * (guess_peak_ - guess_from_)) {
      away_ = false;
    }
    return Severity::kNone;
  }
  const int64_t covered = !means_ || gap < 0 || gap > step ? 1 : step - gap;
  if (guessing_ == 0) {
    if (high_ == 0) first_step_ = step;
    guess_course_ = Course();
    guess_step_ = step;
    if (!away_) {
      guess_from_ = LevelBefore();
      guess_peak_ = loss;
    }
  }
  guessing_ += static_cast<int32_t>(std::clamp<int64_t>(covered, 1, 100));
  guess_course_.Add(loss);
  guess_peak_ = std::max(guess_peak_, loss);
  loss_ = loss;
  if (guessing_ < t[kGuessingSteps]) return Severity::kNone;
  away_ = true;
  const auto steps = static_cast<double>(step - guess_step_);
  const bool stays = guess_course_.records() >= kGuessRecords &&
                     steps >= kGuessShare * t[kCriticalSteps] &&
                     !guess_course_.ComesDown(guess_from_);
  return stays ? Severity::kCritical : Severity::kWarning;
}

void LossHighPlateau::SetFirst() {
  std::array<float, 5> head;
  std::copy_n(block_.begin(), head.size(), head.begin());
  std::sort(head.begin(), head.end());
  first_ = head[2];
}

Severity LossHighPlateau::Ceiling(Thresholds t) const {
  if (blocks_ < kLeastBlocks || best_ <= 0) return Severity::kNone;
  const float learned = first_ - best_;
  const float lost = level_ - best_;
  // Back where it began: no data are so hard.
  if (untrained_ > 0 && learned >= kSomeLearned * first_ &&
      learned >= kLearnedNoise * noise_ && lost >= kAllLost * learned) {
    return Severity::kCritical;
  }
  if (learned >= kLearnedShare * first_ && learned >= kLearnedNoise * noise_) {
    if (lost >= t[kLostShare] * learned) return Severity::kCritical;
    if (level_ >= t[kRisen] * best_ &&
        lost >= std::max(kRisenShare * learned, kRisenNoise * noise_)) {
      return Severity::kCritical;
    }
  }
  const Severity above = AboveAll(t);
  const bool risen = level_ >= t[kRisen] * std::max(best_, before_) &&
                     level_ - before_ >= kLearnedNoise * noise_;
  return above == Severity::kNone && BeginsHigh() && risen ? Severity::kWarning
                                                           : above;
}

// Whatever was learned. Where that is little, or nothing, it may be a loss that
// is meant to grow, as a critic's with its rewards, unless it is absurd.
Severity LossHighPlateau::AboveAll(Thresholds t) const {
  if (level_ - best_ < kLearnedNoise * noise_) return Severity::kNone;
  if (untrained_ > 0 && level_ >= t[kBlown] * untrained_) {
    return Severity::kCritical;
  }
  if (first_ < kTiny) return Severity::kNone;
  const float times = level_ / first_;
  const bool learned = best_ <= (1 - kSomeLearned) * first_;
  if (times >= kRuined || (learned && times >= t[kBlown])) {
    return Severity::kCritical;
  }
  return times >= 2 * t[kBlown] ? Severity::kWarning : Severity::kNone;
}

// The first loss of the full block in the upper half of the rise, or of the
// healthy one before, where that ends with such losses.
int64_t LossHighPlateau::FirstHigh(float usual, int64_t last) const {
  const float half = usual + (level_ - usual) / 2;
  int index = 0;
  while (index < kBlock - 1 && block_[index] < half) ++index;
  if (index > 0) return StepOf(index, block_step_, last);
  int before = kBlock;
  while (before > 0 && last_healthy_[before - 1] >= half) --before;
  return before == kBlock || before == 0
             ? block_step_
             : StepOf(before, healthy_from_, healthy_step_);
}

Severity LossHighPlateau::TriggerOf(Severity ceiling, int64_t step,
                                    Thresholds t) const {
  const int records = high_ * kBlock;
  if (LostAtRestart()) {
    return records >= t[kHold] ? ceiling : Severity::kWarning;
  }
  const auto steps = static_cast<double>(step - first_step_);
  if (records >= t[kCriticalHold] && steps >= t[kCriticalSteps]) {
    return ceiling;
  }
  return records >= t[kHold] ? Severity::kWarning : Severity::kNone;
}

Severity LossHighPlateau::CloseBlock(int64_t step, Thresholds t) {
  filled_ = 0;
  const Level level = LevelOf(block_);
  const float usual = std::exchange(level_, level.center);
  if (blocks_ == 0) {
    SetFirst();
    best_ = level.center;
    noise_ = level.spread;
  }
  const Severity ceiling = Ceiling(t);
  if (blocks_ < INT16_MAX) ++blocks_;
  if (since_ < INT16_MAX) ++since_;
  if (ceiling == Severity::kNone) {
    high_ = 0;
    if (level_ <= best_) {
      best_ = level_;
      best_step_ = step;
    }
    healthy_ = level_;
    healthy_from_ = block_step_;
    healthy_step_ = step;
    last_healthy_ = block_;
    noise_ += (level.spread - noise_) / 4;
    return Severity::kNone;
  }
  if (high_ == 0 && guessing_ == 0) first_step_ = FirstHigh(usual, step);
  if (high_ == 0) course_ = Course();
  for (const float loss : block_) course_.Add(loss);
  if (high_ < INT16_MAX) ++high_;
  stood_ = high_;
  stood_at_ = level_;
  return TriggerOf(ceiling, step, t);
}

Severity LossHighPlateau::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLoss)) return episode_.severity();
  const float loss = static_cast<float>(c.record[StepField::kLoss]);
  if (!std::isfinite(loss)) return episode_.severity();  // loss_nonfinite's
  if (untrained_ < 0) {
    untrained_ = UntrainedLoss(c.run, static_cast<float>(t[kGuessing]));
    means_ = TellsMeans(c.run);
    if (c.loss_before != nullptr) GoOn(*c.loss_before, c.record.step);
  }
  const int64_t step = c.record.step;
  const Severity guesses =
      untrained_ > 0 ? Guesses(loss, step, t) : Severity::kNone;
  last_step_ = step;
  newest_ = loss;
  Severity trigger = Severity::kNone;
  if (filled_ == 0) block_step_ = step;
  block_[filled_++] = loss;
  if (filled_ == kBlock) trigger = CloseBlock(step, t);
  trigger = std::max(trigger, guesses);
  const bool opens = !episode_.open();
  const Severity severity = episode_.On(trigger, high_ == 0 && guessing_ == 0,
                                        step, static_cast<int64_t>(t[kClear]));
  if (opens) {
    episode_.OpenedAt(first_step_);
    guesses_ = guesses > Severity::kNone;
    not_loaded_ = high_ > 0 && LostAtRestart();
  }
  return severity;
}

// Those of a block that is not full may lead back all at once.
bool LossHighPlateau::GoesBackTo(float level) const {
  const float half = level + (level_ - level) / 2;
  return std::count_if(block_.begin(), block_.begin() + filled_,
                       [&](float loss) { return loss < half; }) *
             2 >
         filled_;
}

bool LossHighPlateau::EndsHigh() const {
  return untrained_ > 0 && high_ == 0 && blocks_ >= kLeastBlocks && best_ > 0 &&
         best_ <= (1 - kSomeLearned) * first_ && level_ >= kEndsHigh * best_ &&
         level_ - best_ >= kLearnedNoise * noise_ && !GoesBackTo(best_);
}

Severity LossHighPlateau::OnEnd(Thresholds t) {
  if (guesses_ && away_ && episode_.open()) {
    to_end_ = true;
    return episode_.On(Severity::kCritical, false, last_step_,
                       static_cast<int64_t>(t[kClear]));
  }
  if (!episode_.open() && EndsHigh()) {
    ends_high_ = to_end_ = true;
    stood_at_ = level_;
    return episode_.OnSince(best_step_, Severity::kWarning, false, last_step_,
                            static_cast<int64_t>(t[kClear]));
  }
  if (high_ < kEndBlocks || LostAtRestart() ||
      Ceiling(t) < Severity::kCritical) {
    return episode_.severity();
  }
  // A loss that wanders in health comes half of the way back, for a while.
  if (level_ < t[kRisen] * best_ &&
      level_ - best_ < kAllLost * (first_ - best_)) {
    return episode_.severity();
  }
  Course course = course_;
  for (int i = 0; i < filled_; ++i) course.Add(block_[i]);
  if (GoesBackTo(best_) || course.ComesDown(best_)) return episode_.severity();
  to_end_ = true;
  return episode_.OnSince(first_step_, Severity::kCritical, false, last_step_,
                          static_cast<int64_t>(t[kClear]));
}

void LossHighPlateau::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (guesses_) {
    const bool lost = episode_.severity() == Severity::kCritical;
    finding->SayBoth([&](Tense tense) {
      return Sentence(
          "The loss is ", static_cast<double>(loss_), ", worse than guessing (",
          static_cast<double>(untrained_), "), and was ",
          static_cast<double>(lowest_),
          to_end_ && guessing_ == 0
              ? Sentence(", and is not back at the end (",
                         static_cast<double>(newest_), ")")
              : std::string(),
          !lost ? ": all that it knew is lost, unless it comes back."
          : tense == Tense::kPresent ? ": the model has lost what it knew."
                                     : ": the model had lost what it knew.");
    });
    finding->numbers = {{"loss", loss_, ""},
                        {"untrained_loss", untrained_, ""},
                        {"lowest_loss", lowest_, ""}};
    return;
  }
  if (not_loaded_) {
    finding->sentence = Sentence(
        "After the restart the loss stands at ", static_cast<double>(stood_at_),
        " for ", stood_ * kBlock, " records",
        before_high_ ? ", as before it" : "", ", and it had come to ",
        static_cast<double>(before_), " at step ", before_step_,
        before_high_ ? ": no good checkpoint was loaded."
                     : " before: the checkpoint was not loaded, or not all of "
                       "it.");
    finding->numbers = {{"loss", stood_at_, ""},
                        {"loss_before_restart", before_, ""},
                        {"first", first_, ""},
                        {"records", static_cast<double>(stood_ * kBlock), ""}};
    return;
  }
  if (ends_high_) {
    finding->SayBoth([&](Tense tense) {
      return Sentence("The loss ", In(tense, "stands", "stood"), " at ",
                      static_cast<double>(stood_at_),
                      " at the end, and had come to ",
                      static_cast<double>(best_), " at step ", best_step_,
                      ": since then it rises.");
    });
    finding->numbers = {{"loss", stood_at_, ""}, {"best", best_, ""}};
    return;
  }
  const char* const share = stood_at_ > first_ ? "all"
                            : stood_at_ - best_ >= (first_ - best_) / 2
                                ? "most"
                                : "much";
  finding->SayBoth([&](Tense tense) {
    const std::string before =
        best_ <= (1 - kSomeLearned) * first_
            ? Sentence("it had fallen from ", static_cast<double>(first_),
                       " to ", static_cast<double>(best_), ", and ", share,
                       " of that ", In(tense, "is", "was"), " lost.")
            : Sentence("it began at ", static_cast<double>(first_), ".");
    return Sentence("The loss ", In(tense, "stands", "stood"), " at ",
                    static_cast<double>(stood_at_), " for ", stood_ * kBlock,
                    " records", to_end_ ? ", to the end: " : ": ", before);
  });
  finding->numbers = {{"loss", stood_at_, ""},
                      {"best", best_, ""},
                      {"first", first_, ""},
                      {"records", static_cast<double>(stood_ * kBlock), ""}};
}

}  // namespace nanwatch
