#include "detect/overflow_rate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int kWindow = 1000;  // updates; Megatron's growth interval
constexpr int kQuiet = 50;     // updates, see the header; ours
// Growths whose overflows may come at once; ours.
constexpr int kGrowthsKept = 4;

constexpr ThresholdSpec kThresholds[] = {
    {"warning", 0.01, 0.001, 1, "ratio",
     "PyTorch: skips should occur once every few hundred iterations"},
    {"critical", 0.1, 0.001, 1, "ratio", "ours"},
    {"clear_below", 0.005, 0, 1, "ratio", "ours"},
};

}  // namespace

constinit const RuleSpec OverflowRate::kSpec = {
    RuleId::kOverflowRate,
    "overflow_rate",
    Family::kScale,
    "Overflows cost a noticeable part of the updates.",
    "Of the last 1000 updates (where the scale alone shows overflows, steps) "
    "more than the share warning (critical) overflowed beyond what growths of "
    "the scale explain. A degree less where their updates are applied all the "
    "same, and for information where the overflow check was declared off.",
    "Below clear_below.",
    kThresholds,
    "Where overflows are applied all the same, they are a degree less, and "
    "for information where somebody declared the check off. A skipped "
    "update counts as an overflow even if nobody says that it overflowed; "
    "the sentence then says that the reason is not known. An overflow "
    "without a scale (a log's counter) is taken for a probe if it stands "
    "alone. A layer with a scale of its own is judged by itself, too, from "
    "the first overflow on that its own gradient shows."};

Severity OverflowRate::OnStep(const StepContext& c, Thresholds t) {
  const ScalerTracker& scaler = c.scaler;
  const auto earned = [&scaler] {  // not of every record: it takes logarithms
    return static_cast<int32_t>(scaler.overflows_per_growth());
  };
  const bool first = update_ == 0;
  const int64_t steady = SteadySince(c, &update_);
  const int64_t steps = c.record.step - std::exchange(step_, c.record.step);
  quiet_ = static_cast<int32_t>(std::min<int64_t>(quiet_ + steady, kQuiet));
  excess_.Skip(steady);
  // Where the scale alone tells overflows, a record tells those of all steps
  // since the one before, of which the others went well.
  if (!first && c.record.flags_present == 0) excess_.Skip(steps - steady - 1);
  if (scaler.last_transition() == Transition::kGrew) {
    credit_ = std::min(credit_ + earned(), kGrowthsKept * earned());
  }
  bool excess = false;
  const bool gap = IsApart(c) && TellsOfItsOwn(c);
  apart_ =
      gap ? kWindow
          : static_cast<int32_t>(std::max<int64_t>(0, apart_ - 1 - steady));
  if (scaler.overflowed()) {
    // It does not tell its scale, nor would the growth before it have.
    if (!c.record.has(StepField::kLossScale) && quiet_ >= kQuiet) {
      credit_ = std::max(credit_, earned());
    }
    excess = !scaler.in_grace() && credit_ == 0;
    if (credit_ > 0) --credit_;
    quiet_ = 0;
    if (excess) applied_ = scaler.fate() == Fate::kApplied;
    more_ |= !excess || (IsApart(c) && !TellsOfItsOwn(c));
  } else if (quiet_ < kQuiet) {
    ++quiet_;
  }
  excess_.Push(excess);
  if (excess_.ones() == 0 && !episode_.open()) return Severity::kNone;
  const double rate = static_cast<double>(excess_.ones()) / kWindow;
  Severity trigger = Severity::kNone;
  if (excess && rate > t[kWarning]) {
    trigger = rate > t[kCritical] ? Severity::kCritical : Severity::kWarning;
    if (applied_) trigger = OfApplied(c.run, trigger);
    left_out_ = IsLeftOut(c);
    scaled_ = ScalesGradients(c);
    count_ = excess_.ones();
  }
  return episode_.On(trigger, rate < t[kClearBelow], c.record.step, 1);
}

void OverflowRate::Describe(Finding* finding) const {
  episode_.Describe(finding);
  // Of steps without a record nobody knows, so there is no share to tell.
  const int all = std::max(count_, excess_.size());
  const std::string share =
      apart_ > 0 ? Sentence("At least ", count_, " updates lately")
                 : Sentence(more_ && count_ < all ? "At least " : "", count_,
                            " of the last ", all, " updates");
  finding->SayBoth([&](Tense tense) {
    const char* const lost =
        tense == Tense::kPresent ? "; they are lost." : "; they were lost.";
    return Sentence(
        share,
        left_out_
            ? " were left out; the records do not say whether for overflows."
            : Sentence(scaled_ ? " overflowed, more than a loss scale that "
                                 "grows explains"
                               : " were not finite",
                       applied_ ? "; they are applied all the same." : lost));
  });
  finding->numbers = {
      {"excess_overflows", static_cast<double>(count_), "updates"},
      {"rate", static_cast<double>(count_) / kWindow, "ratio"}};
}

}  // namespace nanwatch
