#include "diagnose/actions.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "diagnose/advice.h"
#include "diagnose/framework.h"

namespace nanwatch {
namespace {

using Course = Situation::Course;

// Returns the rule whose findings have that advice; kNone: no rule alone.
RuleId PartOf(When when) {
  constexpr std::pair<When, RuleId> kParts[] = {
      {When::kOfEvaluation, RuleId::kEvaluationNonfinite},
      {When::kOfTerm, RuleId::kTermNonfinite},
      {When::kOfLayer, RuleId::kLayerWithoutGradient},
      {When::kOfScore, RuleId::kScoreLost},
      {When::kOfBlown, RuleId::kScoreLost},
      {When::kOfLatents, RuleId::kScoreLost},
      {When::kOfRival, RuleId::kRivalGone},
      {When::kOfData, RuleId::kDataFromStart},
      {When::kOfNumber, RuleId::kNumberNonfinite},
      {When::kOfSkips, RuleId::kOverflowStreak},
      {When::kOfZeroLoss, RuleId::kLossNonfinite},
      {When::kOfZeroNorm, RuleId::kMetricAbsentAsZero},
      {When::kOfNorm, RuleId::kGradVanishing},
      {When::kOfLevel, RuleId::kLossSpike}};
  for (const auto& [one, rule] : kParts) {
    if (one == when) return rule;
  }
  return RuleId::kNone;
}

// Returns whether the trouble is one of a score, of the kind that `when` names.
bool IsOfScore(When when, const Situation& s) {
  return s.part == PartOf(when) && !s.of_loss &&
         s.blown == (when == When::kOfBlown) &&
         s.unused == (when == When::kOfLatents);
}

bool IsOfMaker(When when) {
  return when >= When::kOfOp && when <= When::kBroughtIn;
}

bool IsOf(When when, Maker maker) {
  return when == When::kOfOp        ? maker >= Maker::kFp32Op
         : when == When::kOfFp32Op  ? maker == Maker::kFp32Op
         : when == When::kOfOtherOp ? maker == Maker::kOtherOp
                                    : maker == Maker::kData;
}

bool Holds(When when, const Situation& s) {
  switch (when) {
    case When::kAlways:
      return true;
    case When::kNow:
      return !s.over;
    case When::kOver:
      return s.over;
    case When::kCured:
      return s.cured;
    case When::kSick:
      return !s.cured;
    case When::kUnsure:
      return !s.cured && !s.established;
    case When::kRare:
      return !s.fixed && !s.often;
    case When::kOften:
      return !s.fixed && s.often;
    case When::kFixed:
      return s.fixed;
    case When::kLow:
      return !s.over && !s.stuck;
    case When::kStuck:
      return !s.over && s.stuck;
    case When::kSevere:
      return !s.over && s.severe && !s.spoilt && !s.outlived && !s.never_finite;
    case When::kSpoilt:
      return !s.over && s.severe && s.spoilt;
    case When::kOutlived:
      return !s.over && s.outlived;
    case When::kNeverFinite:
      return !s.over && s.never_finite;
    case When::kMild:
      return !s.over && !s.severe && !s.outlived && !s.never_finite;
    case When::kPasses:
      return !s.over && !s.severe && s.course == Course::kPasses;
    case When::kStays:
      return !s.over && !s.severe && s.course == Course::kStays;
    case When::kNormStays:
      return !s.over && !s.severe && s.course == Course::kNormStays;
    case When::kFromStart:
      return !s.over && !s.severe && s.course == Course::kFromStart;
    case When::kGrows:
      return !s.over && !s.severe && s.course == Course::kGrows;
    case When::kOps:
      return s.ops_collected && !s.of_loss && s.part == RuleId::kNone;
    case When::kNoOps:
      return !s.ops_collected && !s.of_loss && s.part == RuleId::kNone;
    case When::kOfModel:
      return !s.of_part;
    case When::kOfLoss:
      return s.of_loss;
    case When::kOfScore:
    case When::kOfBlown:
    case When::kOfLatents:
      return IsOfScore(when, s);
    case When::kMissing:
      return !s.dropped;
    case When::kScaled:
      return s.scaled;
    case When::kScaledNow:
      return s.scaled && !s.over && !s.applied;
    case When::kNotScaled:
      return !s.scaled;
    case When::kDropped:
      return s.dropped;
    default:  // of who made it, or of a rule
      if (IsOfMaker(when)) return s.ops_collected && IsOf(when, s.maker);
      return s.part == PartOf(when) && !s.of_loss;
  }
}

// True for causes whose advice sets the loss scaler.
bool SetsTheScaler(Cause cause) {
  return cause == Cause::kHarmlessPadding ||
         cause == Cause::kStartupCalibration ||
         cause == Cause::kRangeOverflow ||
         cause == Cause::kCollapseWithUnderflow || cause == Cause::kUnderflow ||
         cause == Cause::kScalerMisuse;
}

class Chooser {
 public:
  Chooser(Cause cause, const Situation& situation, std::vector<Action>* actions)
      : cause_(cause), situation_(situation), actions_(actions) {}

  // False: there is none. A framework finds the op of what nobody can explain
  // as it finds that of a NaN.
  bool Add(std::string_view framework) {
    const bool as_nan = cause_ == Cause::kUnexplained && !framework.empty();
    if (as_nan && (situation_.ops_collected || situation_.of_loss ||
                   situation_.part != RuleId::kNone)) {
      return false;
    }
    const Cause cause = as_nan ? Cause::kNanFromForward : cause_;
    bool any = false;
    for (const std::span<const Advice> advices :
         {AdviceOnScales(), AdviceOnValues()}) {
      for (const Advice& advice : advices) {
        if (advice.cause != cause || advice.framework != framework ||
            !Holds(advice.when, situation_)) {
          continue;
        }
        any = true;
        Put(advice);
      }
    }
    return any;
  }

  void AddOf(const Framework& framework) {
    if (Add(framework.name) || framework.base.empty()) return;
    if (SetsTheScaler(cause_) && !framework.scaler_of_base) return;
    Add(framework.base);
  }

 private:
  // Puts it once: two frameworks may be built on the same one.
  void Put(const Advice& advice) {
    std::string sentence =
        WithWayBack(advice.sentence, situation_.step, situation_.from_start);
    const bool there =
        std::any_of(actions_->begin(), actions_->end(),
                    [&](const Action& a) { return a.sentence == sentence; });
    if (there) return;
    actions_->push_back({std::string(advice.framework), std::move(sentence)});
  }

  const Cause cause_;
  const Situation& situation_;
  std::vector<Action>* const actions_;
};

// What an unknown run may be of: those that bring a loss scaler.
constexpr std::string_view kLibraries[] = {
    "pytorch", "megatron",  "deepspeed", "fairseq", "mindspore",
    "paddle",  "ascend_tf", "keras",     "jax",
};

}  // namespace

std::string WithWayBack(std::string_view sentence, std::optional<int64_t> step,
                        bool from_start) {
  constexpr int64_t kFirst = 4;    // steps; ours: nothing before is worth one
  constexpr int64_t kEarly = 100;  // steps; ours: few save one earlier
  std::string back = "resume from a checkpoint before the named step";
  if (step && *step < kFirst) {
    back = "start anew";
  } else if (from_start) {
    back = fmt::format("go back to before the first record, that of step {}",
                       *step);
  } else if (step) {
    back = fmt::format("resume from a checkpoint before step {}{}", *step,
                       *step < kEarly ? " (start anew if there is none)" : "");
  }
  std::string text(sentence);
  const auto put = [&text](std::string_view mark, std::string_view words) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;) {
      text.replace(at, mark.size(), words);
    }
  };
  put("{back}", back);
  back[0] = static_cast<char>(std::toupper(back[0]));
  put("{Back}", back);
  // The data of the first steps are no worse than others.
  const bool begins = step && *step < kFirst;
  put("{data}", begins ? "" : ", or without the data of that step");
  return text;
}

std::vector<Action> ActionsFor(Cause cause, const Situation& situation,
                               std::string_view framework) {
  std::vector<Action> actions;
  Chooser chooser(cause, situation, &actions);
  chooser.Add("");
  if (framework.empty()) {
    for (const std::string_view library : kLibraries) chooser.Add(library);
  }
  for (const std::string_view name : NamesIn(framework)) {
    if (const Framework* known = FindFramework(name)) chooser.AddOf(*known);
  }
  return actions;
}

bool IsMeantFor(std::string_view of, std::string_view framework) {
  if (of.empty() || framework.empty()) return true;
  for (const std::string_view name : NamesIn(framework)) {
    const Framework* known = FindFramework(name);
    if (name == of) return true;
    if (known != nullptr && known->scaler_of_base && known->base == of) {
      return true;
    }
  }
  return false;
}

void KeepGeneral(std::string_view framework, std::vector<Action>* actions) {
  const auto is_named = [](const Action& action) {
    return !action.framework.empty();
  };
  if (framework.empty() &&
      !std::all_of(actions->begin(), actions->end(), is_named)) {
    std::erase_if(*actions, is_named);
  }
}

}  // namespace nanwatch
