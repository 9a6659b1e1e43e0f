#include "diagnose/actions.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "diagnose/advice.h"
#include "diagnose/framework.h"
#include "diagnose/scale_facts.h"
#include "model/step.h"

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

constexpr RuleSet kLeftLevel =
    kLossLevel | kNorm | RuleSet{RuleId::kLossImpossible};
// What no cause explains, and has advice of its own.
constexpr RuleSet kOwnAdvice =
    kToldOfParts | RuleSet{RuleId::kRivalGone, RuleId::kGradVanishing,
                           RuleId::kDataFromStart, RuleId::kNumberNonfinite};
constexpr RuleSet kMoreThanProbing = {
    RuleId::kScaleCollapse, RuleId::kOverflowStreak, RuleId::kOverflowRate};

// True for a part of the model that is not trained.
bool IsOfPartOfModel(const Finding& finding) {
  const double fault = NumberOf(finding, "fault").value_or(0);
  return finding.rule == RuleId::kUpdateFault &&
         IsOfPart(static_cast<UpdateFault>(static_cast<int>(fault)));
}

// True for causes whose advice sets the loss scaler.
bool SetsTheScaler(Cause cause) {
  return cause == Cause::kHarmlessPadding ||
         cause == Cause::kStartupCalibration ||
         cause == Cause::kRangeOverflow ||
         cause == Cause::kCollapseWithUnderflow || cause == Cause::kUnderflow ||
         cause == Cause::kScalerMisuse;
}

// True when the run declares the cure. A static scale whose overflow check is
// off skips no update; nor is one skipped for a mask.
bool IsCured(const CauseVerdict& verdict, const RunDescription& run) {
  if (verdict.cause != Cause::kHarmlessPadding) return false;
  const bool mask = verdict.grade != EvidenceGrade::kEstablished &&
                    verdict.ceiling == Severity::kInfo;
  return mask || (run.scaler.kind == ScalingKind::kStatic &&
                  run.scaler.overflow_check == false);
}

// True for a telemetry_gap of ranks whose clients dropped records, alone.
bool IsOfDrops(const Finding& finding) {
  double dropped = 0;
  double missing = 0;
  for (const EvidenceNumber& number : finding.numbers) {
    (number.name.starts_with("dropped_") ? dropped : missing) += number.value;
  }
  return finding.rule == RuleId::kTelemetryGap && dropped > 0 && missing == 0;
}

// True for a note of a loss that rose little by little.
bool IsOfRise(const Finding& finding) {
  const auto loss = NumberOf(finding, "loss");
  const auto first = NumberOf(finding, "first");
  return finding.rule == RuleId::kLossNotDecreasing &&
         finding.severity == Severity::kInfo && loss && first && *loss > *first;
}

// Returns the rule by which the advice goes; kNone: it goes by the family.
RuleId PartOf(const Finding& finding) {
  if (kOwnAdvice.has(finding.rule)) return finding.rule;
  if (kLeftLevel.has(finding.rule) || IsOfRise(finding)) {
    return RuleId::kLossSpike;
  }
  if (finding.rule == RuleId::kLossNotDecreasing &&
      NumberOf(finding, "norms_not_finite")) {
    return RuleId::kOverflowStreak;
  }
  if (finding.rule == RuleId::kLossNonfinite &&
      NumberOf(finding, "loss_before")) {
    return finding.rule;
  }
  // A loss that stands still for want of gradients.
  const bool none = finding.rule == RuleId::kLossNotDecreasing &&
                    NumberOf(finding, "grad_norm") == 0.0;
  return none ? RuleId::kGradVanishing : RuleId::kNone;
}

// Returns what is to be expected of a level that was left.
Course CourseOf(const Finding& finding) {
  constexpr double kLong = 64;  // records; ours: most spikes are shorter
  if (NumberOf(finding, "grown_from")) return Course::kGrows;
  if (finding.rule == RuleId::kLossImpossible) return Course::kFromStart;
  const bool stays = finding.rule == RuleId::kLossHighPlateau ||
                     NumberOf(finding, "stands") ||
                     NumberOf(finding, "records").value_or(0) >= kLong;
  return !stays                    ? Course::kPasses
         : kNorm.has(finding.rule) ? Course::kNormStays
                                   : Course::kStays;
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

bool HasOwnAdvice(const Finding& finding) {
  return finding.family == Family::kLoss || kOwnAdvice.has(finding.rule);
}

Situation SituationOf(const Facts& f, const CauseVerdict& verdict) {
  Situation s;
  // Advice on the named op is none where no op is named.
  s.ops_collected =
      f.evidence.ops_collected && ((verdict.cause != Cause::kNanFromForward &&
                                    verdict.cause != Cause::kNanFromBackward) ||
                                   !verdict.origin.op.empty());
  s.cured = IsCured(verdict, f.run);
  s.established = verdict.grade == EvidenceGrade::kEstablished;
  s.often = !s.established;
  s.fixed = !f.evidence.scaler_dynamic && !f.unseen;
  s.stuck = f.stuck;
  s.scaled = f.scaled || (verdict.cause == Cause::kUnderflow &&
                          f.evidence.underflow_fraction.value_or(0) > 0);
  s.step = verdict.step;
  s.from_start =
      f.evidence.updates_before == 0 && verdict.step <= f.evidence.first_step;
  Severity worst = Severity::kNone;
  bool missing = false;
  for (const Finding& finding : f.found) {
    if (!Explains(verdict, finding)) continue;
    missing = missing || !IsOfDrops(finding);
    worst = std::max(worst, finding.severity);
    if (finding.severity > Severity::kInfo && kLeftLevel.has(finding.rule)) {
      s.course = std::max(s.course, CourseOf(finding));
    }
    if (verdict.cause == Cause::kUnexplained) {
      const RuleId part = PartOf(finding);
      if (s.part == RuleId::kNone) s.part = part;
      s.blown |= part == RuleId::kScoreLost &&
                 NumberOf(finding, "stands") > NumberOf(finding, "best");
      s.unused |= part == RuleId::kScoreLost &&
                  NumberOf(finding, "divergence").has_value();
      s.of_loss = s.of_loss ||
                  (finding.family == Family::kLoss && part == RuleId::kNone);
    }
    s.of_part = s.of_part || IsOfPartOfModel(finding);
    s.often = s.often || kMoreThanProbing.has(finding.rule);
  }
  // Windows of rules remember a start-up that is over.
  s.over = worst == Severity::kNone ||
           (verdict.cause == Cause::kStartupCalibration &&
            StartUpIsOver(f.evidence));
  s.severe = worst == Severity::kCritical;
  s.applied =
      verdict.cause == Cause::kDivergence && f.evidence.applied_overflows > 0;
  if (verdict.cause == Cause::kNanFromForward) {
    if (f.forward && f.forward->origin) s.maker = MakerOf(*f.forward->origin);
    s.outlived = f.found.has(RuleId::kLossNonfinite) &&
                 !f.found.Any([](const Finding& finding) {
                   return finding.rule == RuleId::kLossNonfinite &&
                          !NumberOf(finding, "outlived");
                 });
    s.spoilt = !s.outlived && (f.evidence.applied_overflows > 0 ||
                               (f.forward && f.forward->spoilt > 0));
    s.never_finite = !s.spoilt && f.evidence.loss_nonfinite > 0 &&
                     f.evidence.loss_finite == 0;
  }
  s.dropped = !missing && worst != Severity::kNone;
  return s;
}

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
