#include "app/comparison_words.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <vector>

#include "app/divergence_words.h"
#include "base/grouped.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr size_t kSettingsShown = 12;

std::string Percent(double share) {
  return fmt::format("{:+.2g} %", 100 * share);
}

std::string BadLossWords(const char* whose, const BadLoss& bad) {
  return fmt::format("{}'s loss is not finite at step {}: A has {}, B has {}.",
                     whose, bad.step, InWords(bad.a), InWords(bad.b));
}

std::string OverflowPlace(const DeviceOverflow& overflow) {
  return fmt::format("{} at step {} ({}{})", overflow.op, overflow.step,
                     overflow.unit,
                     overflow.meaning.empty() ? "" : ": " + overflow.meaning);
}

std::string Headline(const Comparison& c) {
  if (c.first) return WhatDiverges(*c.first, c);
  if (c.loss.bad_in_b) return BadLossWords("B", *c.loss.bad_in_b);
  if (c.loss.bad_in_a) return BadLossWords("A", *c.loss.bad_in_a);
  if (const std::string overflow = OverflowHeadline(c.overflows);
      !overflow.empty()) {
    return overflow;
  }
  if (LossesPartLater(c)) {
    return fmt::format(
        "B agrees with A up to step {}. Behind it no tensors are recorded, and "
        "the losses part: by {} at step {}.",
        c.tensor_steps.back(), Percent(*c.loss.farthest), c.loss.farthest_step);
  }
  if (c.tensors > 0 && c.bits) {
    return "B agrees with A: what differs is what another order of sums, or "
           "the format, makes.";
  }
  if (c.tensors > 0) {
    return c.by_statistics > 0
               ? "B agrees with A: all statistics are equal that were compared."
               : "B agrees with A: all that was compared is equal to the bit.";
  }
  if (c.loss.steps == 0) return "No overflow is in B that is not in A.";
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

// `known`: of one of the runs at least there are some.
std::string SettingsLine(const std::vector<SettingDiff>& settings, bool known) {
  if (settings.empty()) {
    return known ? "Settings: equal." : "Settings: neither has any.";
  }
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

// Empty: neither has any.
std::string OverflowsLine(const OverflowDiff& diff) {
  if (!diff.any()) return "";
  std::string line = fmt::format("Overflows: {} in both.", diff.both);
  if (const OverflowBeside* first = WorstOf(diff)) {
    line += fmt::format(" B alone has {}, the first in {}.", diff.only_b.size(),
                        OverflowPlace(first->overflow));
    size_t count[3] = {};
    for (const OverflowBeside& one : diff.only_b) {
      ++count[static_cast<int>(one.in_a)];
    }
    const auto of = [&count](OpBeside in_a) {
      return count[static_cast<int>(in_a)];
    };
    line += fmt::format(
        " Of these ops {} are clean in A, {} are near the limit of B's "
        "format there, and of {} A says nothing.",
        of(OpBeside::kClean), of(OpBeside::kNearLimit), of(OpBeside::kUnknown));
  }
  if (diff.updates_lost > 0) {
    line += fmt::format(" B left out {} at steps with an abnormal one.",
                        Counted(diff.updates_lost, "update"));
  }
  if (!diff.only_a.empty()) {
    line += fmt::format(" A alone has {}, the first in {}.", diff.only_a.size(),
                        OverflowPlace(diff.only_a.front()));
  }
  return line;
}

// What dumps have beside what was compared.
std::string NotComparedWords(const Comparison& c) {
  std::string text;
  if (c.incomparable > 0) {
    text += fmt::format(
        " Not compared: {}, of which the two have other kinds of numbers.",
        Counted(c.incomparable, "tensor"));
  }
  if (c.empty > 0) {
    text += fmt::format(" Not compared: {} without numbers in the dump.",
                        Counted(c.empty, "tensor"));
  }
  return text;
}

std::string TensorsLine(const Comparison& c) {
  if (c.tensors == 0) {
    return "Tensors: none are recorded in both at the same step; record both "
           "runs with level=\"compare\"." +
           NotComparedWords(c);
  }
  std::string line = fmt::format("Tensors: {} compared, of steps {}.",
                                 Grouped(c.tensors), StepsText(c.tensor_steps));
  if (c.by_statistics > 0) {
    line += fmt::format(
        " Of {} only the statistics are known. They show a part of what "
        "differs, so true distances may be larger.",
        c.by_statistics == c.tensors ? "them" : Grouped(c.by_statistics));
  }
  if (c.first && c.first->equal_before + c.first->within_before > 0) {
    line += fmt::format(" At step {}, {}{} are equal{}", c.first->step,
                        c.first->equal_before,
                        c.first->beyond > 0 ? "" : " before this one",
                        c.by_statistics > 0 ? "" : " to the bit");
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
  return line + NotComparedWords(c);
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

std::string OverflowHeadline(const OverflowDiff& diff) {
  const OverflowBeside* first = WorstOf(diff);
  if (first == nullptr) return "";
  const std::string place = OverflowPlace(first->overflow);
  switch (first->in_a) {
    case OpBeside::kClean:
      return fmt::format(
          "An abnormal overflow: B overflows in {}, and A does not there.",
          place);
    case OpBeside::kNearLimit:
      return fmt::format(
          "B overflows in {}, where A comes near the largest number of B's "
          "format: a lower loss scale, or a wider format, suits both.",
          place);
    case OpBeside::kUnknown:
      break;
  }
  return fmt::format(
      "B overflows in {}. Of A it is not known whether this op does.", place);
}

Severity SeverityOf(const Comparison& comparison) {
  if (comparison.first || comparison.loss.bad_in_a ||
      comparison.loss.bad_in_b) {
    return Severity::kCritical;
  }
  const Severity overflows = SeverityOf(comparison.overflows);
  if (overflows == Severity::kCritical) return overflows;
  for (const SettingDiff& diff : comparison.settings) {
    if (diff.weight == SettingWeight::kChangesResults) {
      return Severity::kWarning;
    }
  }
  if (comparison.unread > 0 || LossesPartLater(comparison)) {
    return Severity::kWarning;
  }
  const bool told = comparison.tensors > 0;
  return !told && comparison.loss.first_step ? Severity::kWarning : overflows;
}

ComparisonWords WordsOf(const Comparison& comparison) {
  ComparisonWords words;
  words.headline = Headline(comparison);
  words.settings = SettingsLine(comparison.settings, comparison.settings_known);
  words.loss = LossLine(comparison.loss);
  words.tensors = {TensorsLine(comparison), BitsLine(comparison),
                   OverflowsLine(comparison.overflows)};
  if (comparison.unseen && comparison.by_statistics == 0) {
    const bool apart = comparison.unseen_gradients > 2 * *comparison.unseen;
    words.tensors.push_back(fmt::format(
        "Would not be seen: what differs by less than {} of a tensor's norm{}.",
        Share(*comparison.unseen),
        apart ? ", of some gradients' by less than " +
                    Share(comparison.unseen_gradients)
              : ""));
  }
  std::erase(words.tensors, "");
  if (comparison.first) words.what_to_do = WhatToDo(*comparison.first);
  return words;
}

}  // namespace nanwatch
