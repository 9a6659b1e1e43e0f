#include "detect/loss_nonfinite.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "detect/program.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

// Growth: of one loss to the other, of the first losses, and how many in a row.
constexpr float kFar = 1e3F;    // ratio; ours
constexpr float kGrown = 1e6F;  // ratio; ours
// What is above is as far as a ratio to the first losses can tell.
constexpr double kMostLoss = std::numeric_limits<float>::max();
constexpr int kAbove = 2;       // losses; ours
constexpr int64_t kSlower = 4;  // times the pace of the newest levels; ours
constexpr int32_t kOften = 8;   // losses of an episode; ours
// Of losses that went to 0 at once.
constexpr double kNothing = 1e-4;     // of the loss before; ours
constexpr double kUnlearned = 0.5;    // of the largest of the first; ours
constexpr double kZerosAtEnd = 0.75;  // of `zeros`, of a log that is over; ours

constexpr ThresholdSpec kThresholds[] = {
    {"critical_streak", 2, 1, 1000, "records", "Megatron: fatal at once"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
    {"zeros", 20, 1, 100000, "records",
     "ours: Hugging Face's Trainer logs 0.0 in place of NaN"},
};

}  // namespace

constinit const RuleSpec LossNonfinite::kSpec = {
    RuleId::kLossNonfinite,
    "loss_nonfinite",
    Family::kLoss,
    "The loss is NaN or infinite, or on its way there.",
    "One such loss; critical when its record says that its update was applied, "
    "from critical_streak in a row outside calibration, from 8 with fewer than "
    "clear_after records between them, or where nothing says that the last "
    "update of all was skipped; and where the loss has "
    "grown to a million times the largest of the first 4, by two records in "
    "a row that were above a thousand times it. A warning where the "
    "gradient norm is not 0 and the loss went from 0.1 or more to exactly 0 at "
    "once, for `zeros` records: NaN, filtered; critical where the loss was "
    "half its first ones and more, and no rewards or accuracies tell that it "
    "may be 0. A log that is over needs three in four, where that is critical.",
    "clear_after finite losses.",
    kThresholds,
    "A loss that has grown to a million times its first ones over some "
    "records counts too, since it is on its way to infinity. One loss far "
    "above all others does not: that is a bad batch or a flipped bit. Such "
    "a run diverges; what leaves the range of numbers in the end was not "
    "born there."};

namespace {

// A scale that fell since the line before says that one of the updates between
// was skipped, and not which.
bool ShowsFate(const StepContext& c) {
  return c.record.flags_present != 0 || c.scaler.step_gap() <= 1 ||
         c.scaler.last_transition() != Transition::kBackedOff;
}

}  // namespace

// One loss far above all is a bad batch; a row of them, up to a million times
// what it began with (and a million, where it began near 0), is none.
void LossNonfinite::Growth::Add(double loss, int64_t step) {
  to = static_cast<float>(std::min(std::fabs(loss), kMostLoss));
  // One that has grown so far is none that it began with.
  if (IsYoung() && (base <= kLeastBase || to < kGrown * base)) {
    most = std::max(most, to);
    base = std::max(most, kLeastBase);
    ++firsts;
  }
  if (to < kFar * base) {
    above = 0;
  } else if (above < kAbove) {
    ++above;
  }
  size_t levels = 0;
  float level = base;
  while (levels < kLevels && to >= (level *= kTimes)) ++levels;
  for (size_t i = reached; i < levels; ++i) since[i] = step;
  reached = static_cast<uint8_t>(levels);
}

bool LossNonfinite::Growth::grown() const {
  return above >= kAbove && to >= kGrown * base;
}

// A loss may grow slowly for long before: levels count for as long as each took
// about as many steps as the newest did.
int64_t LossNonfinite::Growth::Began() const {
  size_t first = reached - 1u;
  const size_t half = first / 2;
  const auto levels = static_cast<int64_t>(first - half);
  const int64_t pace = (since[first] - since[half] + levels - 1) / levels;
  while (first > 0 && since[first] - since[first - 1] <= kSlower * pace) {
    --first;
  }
  return since[first];
}

Severity LossNonfinite::LookAtZeros(const StepContext& c, Thresholds t) {
  const double loss = c.record[StepField::kLoss];
  // What is next to nothing of it may be a step on the way to 0.
  if (std::isfinite(loss) &&
      std::fabs(loss) >= kNothing * std::fabs(zeros_.last_loss)) {
    zeros_.last_loss = loss;
  }
  // grad_vanishing tells it of a norm that went along.
  const bool norm_gone =
      c.record.has(StepField::kGradNorm) && c.record[StepField::kGradNorm] == 0;
  if (loss == 0 && (norm_gone || zeros_.last_loss < kSizable)) {
    return zeros_.episode.On(Severity::kNone, false, c.record.step, 1);
  }
  if (loss == 0) zeros_weigh_ = WeighZeros(c.run);
  return zeros_.episode.OnRecord(loss == 0, t[kZeros], zeros_weigh_,
                                 c.record.step, 1);
}

// No model learns at once what it had not half learned, unless that is what
// rewards or accuracies show.
Severity LossNonfinite::WeighZeros(const RunDescription& run) const {
  if (IsOfScore(run)) return Severity::kNone;
  const bool unlearned = !FollowsRewards(run) && !IsMostlyRight(run) &&
                         zeros_.last_loss >= kUnlearned * growth_.most;
  return unlearned ? Severity::kCritical : Severity::kWarning;
}

Severity LossNonfinite::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLoss)) {
    return std::max(episode_.severity(), zeros_.episode.severity());
  }
  // It may be one that brought nothing.
  if (c.last_loss >= kLeastUsualLoss && c.last_loss < kMostUsualLoss) {
    zeros_.last_loss = c.last_loss;
  }
  return std::max(LookAtLoss(c, t), LookAtZeros(c, t));
}

Severity LossNonfinite::LookAtLoss(const StepContext& c, Thresholds t) {
  const double loss = c.record[StepField::kLoss];
  rhythm_.Count();
  if (std::isfinite(loss)) {
    growth_.Add(loss, c.record.step);
    row_.Add(false, c.record.step);
    survival_.AddLoss(true);
    survived_ |= fate_ == Fate::kApplied && survival_.IsSure();
    const bool grown = growth_.grown();
    if (grown) loss_ = loss;
    if (!grown && !episode_.open()) return Severity::kNone;
    return episode_.OnSince(grown ? growth_.Began() : c.record.step,
                            grown ? Severity::kCritical : Severity::kNone,
                            !grown, c.record.step, t[kClear]);
  }
  row_.Add(true, c.record.step);
  rhythm_.Beat();
  often_ = episode_.open() ? std::min(often_ + 1, kOften) : 1;
  newest_step_ = c.record.step;
  survival_.Restart();
  loss_ = loss;
  told_fate_ = ShowsFate(c) ? c.scaler.fate() : Fate::kUnknown;
  fate_ = c.scaler.presumed_fate();
  // A log shows a loss scale, which has not moved yet, and no flag.
  const bool scaled = c.scaler.scale().value_or(0) > 1;
  if (scaled && !FateIsTold(c)) fate_ = Fate::kUnknown;
  Severity trigger = Severity::kWarning;
  if (told_fate_ == Fate::kApplied) {
    trigger = Severity::kCritical;
  } else if (c.scaler.in_grace()) {
    trigger = Severity::kInfo;
    // What outlived one before leaves such updates out.
  } else if (row_.records() >= t[kCriticalStreak] ||
             (often_ >= kOften && (!survived_ || rhythm_.IsRegular()))) {
    trigger = Severity::kCritical;
  }
  return episode_.On(trigger, false, c.record.step, 1);
}

// The next loss would show whether the weights are spoilt.
Severity LossNonfinite::OnEnd(Thresholds t) {
  if (zeros_weigh_ == Severity::kCritical) {
    zeros_.episode.OnEnd(kZerosAtEnd * t[kZeros], zeros_weigh_);
  }
  const bool spoilt =
      row_.records() > 0 && fate_ == Fate::kApplied && !survived_;
  if (spoilt) episode_.On(Severity::kCritical, false, newest_step_, 1);
  return std::max(episode_.severity(), zeros_.episode.severity());
}

void LossNonfinite::DescribeZeros(Finding* finding) const {
  zeros_.episode.Describe(finding);
  finding->sentence = Sentence(
      "The loss went from ", zeros_.last_loss,
      " to exactly 0 at once and has stayed there for ", zeros_.episode.held(),
      " records: nothing enters it any more, or 0 is written in place "
      "of a NaN.");
  finding->numbers = {{"loss_before", zeros_.last_loss, ""}};
}

void LossNonfinite::Describe(Finding* finding) const {
  if (zeros_.episode.severity() > episode_.severity()) {
    DescribeZeros(finding);
    return;
  }
  episode_.Describe(finding);
  const bool grown = growth_.grown();
  if (std::isfinite(loss_)) {
    finding->sentence =
        Sentence("The loss ", grown ? "has" : "had", " grown to ", loss_,
                 " from ", growth_.most, " at most in the beginning",
                 grown ? "." : "; it has come down since.");
    finding->numbers = {{"loss", loss_, ""}, {"grown_from", growth_.most, ""}};
    return;
  }
  if (survival_.IsSure()) {
    finding->sentence = Sentence("The loss was ", loss_);
    if (row_.newest() > 1) {
      finding->sentence += Sentence(" ", row_.newest(), " times in a row");
    }
    finding->sentence +=
        told_fate_ == Fate::kLost
            ? "; the update was skipped."
            : "; the losses after it are finite, so no NaN is in the weights.";
    // The row is over.
    finding->numbers = {
        {"loss", loss_, ""}, {"streak", 0, "records"}, {"outlived", 1, ""}};
    return;
  }
  const int32_t streak = row_.records();
  const bool one = streak <= 1;
  finding->sentence =
      Sentence(streak > 0 ? "The loss is " : "The loss was ", loss_);
  // Finite ones may lie before the row.
  const int64_t since = one ? newest_step_ : row_.since();
  if (!grown) {
    finding->sentence +=
        Sentence(one ? " at step " : " from step ", since, one ? "" : " on");
  }
  if (!one) finding->sentence += Sentence(", ", streak, " records in a row");
  if (told_fate_ == Fate::kApplied) {
    finding->sentence +=
        one ? ", and the update was applied" : ", and updates were applied";
  } else if (told_fate_ == Fate::kLost) {
    finding->sentence +=
        one ? "; the update was skipped" : "; the updates were skipped";
  } else if (fate_ == Fate::kApplied) {
    finding->sentence += one ? "; nothing says that the update was skipped"
                             : "; nothing says that updates were skipped";
  }
  finding->sentence += ".";
  finding->numbers = {{"loss", loss_, ""},
                      {"streak", static_cast<double>(streak), "records"}};
  if (!one && !grown && finding->opened_step < since) {
    finding->numbers.push_back({"since", static_cast<double>(since), "step"});
  }
  if (!grown) return;
  finding->sentence += Sentence(" It had grown to ", growth_.to, " from ",
                                growth_.most, " at most in the beginning.");
  finding->numbers.push_back({"grown_from", growth_.most, ""});
}

}  // namespace nanwatch
