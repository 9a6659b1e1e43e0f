#include "app/comparison_words.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/grouped.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr size_t kSettingsShown = 12;

std::string Share(double share) { return fmt::format("{:.2g}", share); }
// "1.3 times", "520 times", "18,000 times".
std::string Times(double times) {
  if (times < 10) return fmt::format("{:.1f} times", times);
  const double digits = std::pow(10, std::floor(std::log10(times)) - 1);
  return Grouped(static_cast<uint64_t>(std::round(times / digits) * digits)) +
         " times";
}
std::string Percent(double share) {
  return fmt::format("{:+.2g} %", 100 * share);
}

std::string SlotWords(const Divergence& d) {
  if (d.phase == Phase::kGradients) return "its gradient";
  switch (d.slot) {
    case Slot::kInput:
      return "its input";
    case Slot::kOutput:
      return "its output";
    case Slot::kGradInput:
      return "the gradient that it passes on";
    case Slot::kGradOutput:
      return "the gradient that arrives at it";
    case Slot::kParameter:
      return "the weight";
    case Slot::kOptimizerState:
      return "the optimizer's state";
    case Slot::kCollective:
      return "what ranks made of it";
  }
  return "it";
}

std::string OpWords(const Divergence& d) {
  if (d.type.empty()) return d.op;
  // Its pass is said beside it.
  const std::string type = d.phase == Phase::kBackward
                               ? d.type.substr(0, d.type.rfind("Backward"))
                               : d.type;
  const std::string format = d.dtype == Dtype::kUnknown
                                 ? std::string()
                                 : fmt::format(", {}", Name(d.dtype));
  return fmt::format("{} ({}{})", d.op, type, format);
}

// Says whose elements are NaN or infinite, and how many; empty: of both or of
// none.
std::string OfOneAlone(const std::optional<uint64_t>& a,
                       const std::optional<uint64_t>& b, const char* what) {
  if (!IsOfOneAlone(a, b)) return "";
  return fmt::format("{} has {} there, {} has none.", *a > 0 ? "A" : "B",
                     Counted(std::max(*a, *b), what), *a > 0 ? "B" : "A");
}

// How far it lies apart, and what is usual.
std::string HowFar(const Divergence& d) {
  if (d.other_shape) return "It has another shape.";
  const std::string nan = OfOneAlone(d.nan_a, d.nan_b, "NaN element");
  const std::string inf = OfOneAlone(d.inf_a, d.inf_b, "infinite element");
  if (!nan.empty() || !inf.empty()) {
    return nan + (nan.empty() || inf.empty() ? "" : " ") + inf;
  }
  if (!d.distance) return "Its values are not the same.";
  if (d.floor <= 0) {
    return fmt::format("It differs by {} of its norm, and should be equal.",
                       Share(*d.distance));
  }
  return fmt::format(
      "It differs by {} of its norm, {} what would be usual there.",
      Share(*d.distance), Times(*d.distance / d.floor));
}

std::string Between(const Divergence& d) {
  return d.known_equal ? fmt::format("between step {} and step {}",
                                     *d.known_equal, d.step)
                       : fmt::format("before step {}", d.step);
}

// What parts them, a sentence or two. `b` is who leaves.
std::string What(const Divergence& d, const Comparison& c) {
  switch (d.kind) {
    case DivergenceClass::kOtherWeights:
      return fmt::format("B begins with other weights: {}. {}", OpWords(d),
                         HowFar(d));
    case DivergenceClass::kOtherData: {
      const std::optional<int64_t> shift = c.batches.shift;
      return fmt::format(
          "B gets other data from step {} on.{}", d.step,
          shift ? fmt::format(" Its batch there is A's of step {}: {} {}.",
                              d.step + *shift,
                              Counted(std::abs(*shift), "batch") +
                                  (std::abs(*shift) == 1 ? "" : "es"),
                              *shift > 0 ? "ahead" : "behind")
                : "");
    }
    case DivergenceClass::kOtherSeed:
      return fmt::format(
          "B draws other random numbers at step {}: the input of {} is equal "
          "and its output is not.",
          d.step, OpWords(d));
    case DivergenceClass::kOtherSchedule:
      return fmt::format("B has another learning rate from step {} on.",
                         d.step);
    case DivergenceClass::kDivergentOp:
      return fmt::format(
          "B leaves A at step {} in the forward pass, in {}: its input agrees, "
          "its output does not. {}",
          d.step, OpWords(d), HowFar(d));
    case DivergenceClass::kDivergentFunction:
      return fmt::format(
          "B leaves A at step {} in the forward pass, in a function before {}: "
          "what that gets differs, and what the modules before it made agrees. "
          "{}",
          d.step, OpWords(d), HowFar(d));
    case DivergenceClass::kDivergentLoss:
      return fmt::format(
          "B computes another loss at step {}: what the model makes agrees, "
          "the loss or its gradient does not.",
          d.step);
    case DivergenceClass::kDivergentBackward:
      return fmt::format(
          "B leaves A at step {} in the backward pass, in {}: {} differs, and "
          "all before it agrees. {}",
          d.step, OpWords(d), SlotWords(d), HowFar(d));
    case DivergenceClass::kCollective:
      return fmt::format(
          "B's gradients differ at step {} where ranks reduce them: {}, while "
          "the backward pass of the first rank agrees. {}",
          d.step, OpWords(d), HowFar(d));
    case DivergenceClass::kOptimizer:
      return fmt::format(
          "B's optimizer does something else at step {}: gradients and rate "
          "are equal, and after the update {} is not. {}",
          d.known_equal.value_or(d.step), OpWords(d), HowFar(d));
    case DivergenceClass::kBetweenSteps:
      return fmt::format(
          "The runs part {}. All is equal at the first of these steps, {} "
          "differs at the other one, and no tensors are recorded between.",
          Between(d), OpWords(d));
  }
  return "";
}

std::string WhatToDo(const Divergence& d) {
  switch (d.kind) {
    case DivergenceClass::kOtherWeights:
      return "Load the same checkpoint into both, or set the seed before the "
             "model is made.";
    case DivergenceClass::kOtherData:
      return "Give both the same order of data: the sampler's seed, and where "
             "a run that goes on begins.";
    case DivergenceClass::kOtherSeed:
      return "Set the same seed, and restore the states of the random number "
             "generators where a run goes on; or compare without dropout.";
    case DivergenceClass::kOtherSchedule:
      return "Compare warm-up and the scheduler's first step: one that is "
             "stepped once more is ahead by one.";
    case DivergenceClass::kDivergentOp:
      return "Run this op alone in both on the same input; look at its "
             "constants (epsilon, approximation), its kernel and its format.";
    case DivergenceClass::kDivergentFunction:
      return "Look at what the model's code computes between these two "
             "modules, or make modules of it.";
    case DivergenceClass::kDivergentLoss:
      return "Compare the loss functions: reduction, label smoothing, ignored "
             "labels, the loss scale.";
    case DivergenceClass::kDivergentBackward:
      return "Run this op's backward pass alone in both on the same gradient.";
    case DivergenceClass::kCollective:
      return "Compare what each rank gives to the reduction, its group, and "
             "by what the sum is divided.";
    case DivergenceClass::kOptimizer:
      return "Compare the optimizers: clipping, weight decay, betas, epsilon, "
             "skipped updates.";
    case DivergenceClass::kBetweenSteps:
      return fmt::format(
          "Go on from a checkpoint of step {} in both: the "
          "first steps of a run are recorded.",
          d.known_equal.value_or(0));
  }
  return "";
}

std::string BadLossWords(const char* whose, const BadLoss& bad) {
  return fmt::format("{}'s loss is not finite at step {}: A has {}, B has {}.",
                     whose, bad.step, InWords(bad.a), InWords(bad.b));
}

std::string Headline(const Comparison& c) {
  if (c.first) return What(*c.first, c);
  if (c.loss.bad_in_b) return BadLossWords("B", *c.loss.bad_in_b);
  if (c.loss.bad_in_a) return BadLossWords("A", *c.loss.bad_in_a);
  if (c.tensors > 0) {
    return c.bits ? "B agrees with A: what differs is what another order of "
                    "sums, or the format, makes."
                  : "B agrees with A: all that was compared is equal to the "
                    "bit.";
  }
  return c.loss.first_step
             ? "The losses differ, and no tensors are recorded that say why."
             : "The losses are equal.";
}

std::string LossLine(const LossDiff& loss) {
  if (loss.steps == 0) return "Loss: no step of both has one.";
  std::string bad;
  if (loss.bad_in_b)
    bad.append(1, ' ').append(BadLossWords("B", *loss.bad_in_b));
  if (loss.bad_in_a)
    bad.append(1, ' ').append(BadLossWords("A", *loss.bad_in_a));
  if (!loss.first_step && !bad.empty()) {
    return fmt::format("Loss: {} of both have one.{}",
                       Counted(loss.steps, "step"), bad);
  }
  if (!loss.first_step) {
    return fmt::format("Loss: equal at all {} of both.",
                       Counted(loss.steps, "step"));
  }
  std::string line = fmt::format(
      "Loss: of {} of both the first that differs is {}, {:.9g} and {:.9g}.",
      Counted(loss.steps, "step"), *loss.first_step, loss.first_a,
      loss.first_b);
  if (loss.farthest) {
    line += fmt::format(" Means of 20 lie apart by {} at most, at step {}.",
                        Percent(*loss.farthest), loss.farthest_step);
  }
  return line + bad;
}

std::string SettingsLine(const std::vector<SettingDiff>& settings) {
  if (settings.empty()) return "Settings: equal.";
  std::string line = fmt::format("Settings: {} {}. ", settings.size(),
                                 settings.size() == 1 ? "differs" : "differ");
  size_t shown = 0;
  for (const SettingDiff& diff : settings) {
    if (shown++ == kSettingsShown) {
      line += fmt::format("and {} more", settings.size() - kSettingsShown);
      break;
    }
    line += fmt::format(
        "{}: {} / {}{}", diff.key, diff.a.empty() ? "-" : diff.a,
        diff.b.empty() ? "-" : diff.b, shown == settings.size() ? "" : "; ");
  }
  return line + ".";
}

std::string StepsText(const std::vector<int64_t>& steps) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < steps.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(steps[i]);
  }
  if (steps.size() > kShown) {
    text += fmt::format(", ... {}", steps.back());
  }
  return text;
}

std::string TensorsLine(const Comparison& c) {
  if (c.tensors == 0) {
    return "Tensors: none are recorded in both at the same step; record both "
           "runs with level=\"compare\".";
  }
  std::string line = fmt::format("Tensors: {} compared, of steps {}.",
                                 Grouped(c.tensors), StepsText(c.tensor_steps));
  if (c.first && c.first->equal_before + c.first->within_before > 0) {
    line += fmt::format(" At step {}, {} before this one are equal to the bit",
                        c.first->step, c.first->equal_before);
    line += c.first->within_before > 0
                ? fmt::format(", and {} differ as is usual.",
                              c.first->within_before)
                : std::string(".");
  }
  if (c.other_layout) {
    line +=
        " The runs compute a batch in other parts: of its way through the "
        "model nothing was compared, only weights and their gradients.";
  }
  if (c.only_a + c.only_b > 0) {
    line += fmt::format(" Only in A: {}; only in B: {}.", c.only_a, c.only_b);
  }
  return line;
}

std::string BitsLine(const Comparison& c) {
  if (!c.bits ||
      (c.first && c.first->op == c.bits->op && c.first->slot == c.bits->slot)) {
    return "";
  }
  return fmt::format("Bits differ from step {} on, first in {} ({}){}.",
                     c.bits->step, c.bits->op, Name(c.bits->slot),
                     c.bits->distance ? fmt::format(", by {} of its norm",
                                                    Share(*c.bits->distance))
                                      : std::string());
}

}  // namespace

Severity SeverityOf(const Comparison& comparison) {
  if (comparison.first || comparison.loss.bad_in_a ||
      comparison.loss.bad_in_b) {
    return Severity::kCritical;
  }
  for (const SettingDiff& diff : comparison.settings) {
    if (diff.weight == SettingWeight::kChangesResults) {
      return Severity::kWarning;
    }
  }
  const bool told = comparison.tensors > 0;
  return !told && comparison.loss.first_step ? Severity::kWarning
                                             : Severity::kNone;
}

ComparisonWords WordsOf(const Comparison& comparison) {
  ComparisonWords words;
  words.headline = Headline(comparison);
  words.settings = SettingsLine(comparison.settings);
  words.loss = LossLine(comparison.loss);
  words.tensors = {TensorsLine(comparison), BitsLine(comparison)};
  if (comparison.unseen) {
    words.tensors.push_back(fmt::format(
        "Would not be seen: what differs by less than {} of a tensor's norm.",
        Share(*comparison.unseen)));
  }
  std::erase(words.tensors, "");
  if (comparison.first) words.what_to_do = WhatToDo(*comparison.first);
  return words;
}

}  // namespace nanwatch
