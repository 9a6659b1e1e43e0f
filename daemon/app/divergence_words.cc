#include "app/divergence_words.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "base/grouped.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// "1.3 times", "520 times", "18,000 times".
std::string Times(double times) {
  if (times < 10) return fmt::format("{:.1f} times", times);
  const double digits = std::pow(10, std::floor(std::log10(times)) - 1);
  return Grouped(static_cast<uint64_t>(std::round(times / digits) * digits)) +
         " times";
}

// Says whose elements are NaN or infinite; empty: of both or of none.
std::string OfOneAlone(const std::optional<uint64_t>& a,
                       const std::optional<uint64_t>& b, const char* what) {
  if (!IsOfOneAlone(a, b)) return "";
  return fmt::format("{} has {}s there, {} has none.", *a > 0 ? "A" : "B", what,
                     *a > 0 ? "B" : "A");
}

// The same, and how many.
std::string CountedOfOneAlone(const std::optional<uint64_t>& a,
                              const std::optional<uint64_t>& b,
                              const char* what) {
  if (!IsOfOneAlone(a, b)) return "";
  return fmt::format("{} has {} there, {} has none.", *a > 0 ? "A" : "B",
                     Counted(std::max(*a, *b), what), *a > 0 ? "B" : "A");
}

}  // namespace

std::string Share(double share) { return fmt::format("{:.2g}", share); }

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

std::string HowFar(const Divergence& d) {
  if (d.other_shape) return "It has another shape.";
  const auto specials = [&d](const auto& a, const auto& b, const char* what) {
    return d.by_statistics ? OfOneAlone(a, b, what)
                           : CountedOfOneAlone(a, b, what);
  };
  const std::string nan = specials(d.nan_a, d.nan_b, "NaN element");
  const std::string inf = specials(d.inf_a, d.inf_b, "infinite element");
  if (!nan.empty() || !inf.empty()) {
    return nan + (nan.empty() || inf.empty() ? "" : " ") + inf;
  }
  if (d.value_a && d.value_b) {
    return fmt::format("A has {} there, and B {}.", InWords(*d.value_a),
                       InWords(*d.value_b));
  }
  if (!d.distance) return "Its values are not the same.";
  if (d.by_statistics && *d.distance < 1e-11) {
    return "Its statistics differ in what is printed of them.";
  }
  const char* least = d.by_statistics ? "at least " : "";
  if (d.floor <= 0) {
    return fmt::format("It differs by {}{} of its norm, and should be equal.",
                       least, Share(*d.distance));
  }
  return fmt::format(
      "It differs by {}{} of its norm, {} what would be usual there.", least,
      Share(*d.distance), Times(*d.distance / d.floor));
}

namespace {

std::string Between(const Divergence& d) {
  return d.known_equal ? fmt::format("between step {} and step {}",
                                     *d.known_equal, d.step)
                       : fmt::format("before step {}", d.step);
}

std::string WhatDivergesInOp(const Divergence& d) {
  if (!d.input_known) {
    return fmt::format(
        "B leaves A at step {} in {}: what was made before it agrees, its "
        "output does not. {}",
        d.step, OpWords(d), HowFar(d));
  }
  return fmt::format(
      "B leaves A at step {} in the forward pass, in {}: its input agrees, its "
      "output does not. {}",
      d.step, OpWords(d), HowFar(d));
}

// Says where the distance goes; empty: it does not grow.
std::string GrowthWords(const Divergence& d) {
  if (!d.distance || d.farthest < 2 * *d.distance) return "";
  return fmt::format(" From there on it grows, to {} in {}.", Share(d.farthest),
                     d.farthest_op);
}

std::string WhatDivergesBeforeGradients(const Divergence& d,
                                        const Comparison& c) {
  if (c.other_layout) {
    return fmt::format(
        "B leaves A at step {} in what makes the gradients: that of {} "
        "differs, and of the way there nothing was compared. {}",
        d.step, OpWords(d), HowFar(d));
  }
  return fmt::format(
      "B leaves A at step {} in or before the gradient of {}. Of those that "
      "are there a backward pass makes it first. {}{}",
      d.step, OpWords(d), HowFar(d), GrowthWords(d));
}

// Of the classes that dumps alone have.
std::string WhatDivergesInDumps(const Divergence& d) {
  if (d.kind == DivergenceClass::kOtherInput) {
    return fmt::format(
        "B leaves A at step {} before {}: what that gets differs, and "
        "nothing made it that the dump shows. {}",
        d.step, OpWords(d), HowFar(d));
  }
  return fmt::format(
      "At step {}, {} from A's by more than is usual{} {}. {} The files do not "
      "say which tensor was made first.",
      d.step,
      d.beyond == 1 ? "one tensor of B differs"
                    : Counted(d.beyond, "tensor") + " of B differ",
      d.beyond == 1 ? ":" : ", most of all", OpWords(d), HowFar(d));
}

}  // namespace

std::string WhatDiverges(const Divergence& d, const Comparison& c) {
  switch (d.kind) {
    case DivergenceClass::kOtherWeights:
      return fmt::format("B begins with other weights: {}. {}", OpWords(d),
                         HowFar(d));
    case DivergenceClass::kOtherData: {
      const std::optional<int64_t> shift = c.batches.shift;
      return fmt::format(
          "B gets other data from step {} on.{}{}", d.step,
          shift ? fmt::format(" Its batch there is A's of step {}: {} {}.",
                              d.step + *shift,
                              std::abs(*shift) == 1
                                  ? "1 batch"
                                  : Grouped(std::abs(*shift)) + " batches",
                              *shift > 0 ? "ahead" : "behind")
                : "",
          c.batches.begins_anew ? " That is A's first: the data begins anew."
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
      return WhatDivergesInOp(d);
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
          "all before it agrees. {}{}",
          d.step, OpWords(d), SlotWords(d), HowFar(d), GrowthWords(d));
    case DivergenceClass::kBeforeGradients:
      return WhatDivergesBeforeGradients(d, c);
    case DivergenceClass::kCollective:
      return fmt::format(
          "B's gradients differ at step {} where ranks reduce them: {}, while "
          "the backward pass of the first rank agrees. {}",
          d.step, OpWords(d), HowFar(d));
    case DivergenceClass::kOptimizer:
      return fmt::format(
          "B's optimizer does something else at step {}: gradients and rate "
          "are equal, and after the update {} is not. {}",
          d.phase == Phase::kUpdate ? d.step : d.known_equal.value_or(d.step),
          OpWords(d), HowFar(d));
    case DivergenceClass::kBetweenSteps:
      return fmt::format(
          "The runs part {}. All is equal at the first of these steps, {} "
          "differs at the other one, and no tensors are recorded between.",
          Between(d), OpWords(d));
    case DivergenceClass::kUnordered:
    case DivergenceClass::kOtherInput:
      return WhatDivergesInDumps(d);
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
    case DivergenceClass::kBeforeGradients:
      return "Compare the losses of this step. To find the op record both with "
             "level=\"compare\", with the same ranks and batches.";
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
    case DivergenceClass::kUnordered:
      return "Follow the data from the model's input on, and look for the "
             "first of these tensors.";
    case DivergenceClass::kOtherInput:
      return "Compare this argument: a setting of the op, a weight, the data, "
             "or what a function made that was not dumped.";
  }
  return "";
}

}  // namespace nanwatch
