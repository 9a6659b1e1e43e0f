// CauseForm: one way in which a cause shows. The table of them (causes.cc) is
// the diagnosis: when each holds, what it explains, to what it yields, and its
// words.

#ifndef NANWATCH_DIAGNOSE_CAUSE_FORM_H_
#define NANWATCH_DIAGNOSE_CAUSE_FORM_H_

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "diagnose/facts.h"
#include "model/diagnosis.h"
#include "model/rule_id.h"
#include "model/severity.h"
#include "model/tense.h"

namespace nanwatch {

// In the order in which they are believed when their grades are equal.
enum class Form : uint8_t {
  kWildWeight,
  kPaddingCounted,
  kMask,
  kPaddingPossible,
  kWeightsSpoilt,
  kNanFromOp,
  kNanFromLoss,
  kNanBackward,
  kNanAtAnyScale,
  kOpAtAnyScale,
  kFindingAtAnyScale,
  kOutlierBatch,
  kLateStart,
  kScoreGrows,
  kRecurs,
  kCorruption,
  kRanksDisagree,
  kUpdateMadeWrong,
  kScaleIsNone,
  kUnscaledWrongly,
  kScalerMisused,
  kLayerScaleCollapsed,
  kStartUp,
  kFixedScaleTooHigh,
  kRangeOverflow,
  kCollapseUnseen,
  kCollapseMostly,
  kCollapseStuck,
  kCollapseLow,
  kNoSingleScale,
  kLayerNotUnscaled,
  kLayerScales,
  kUnderflow,
  kFp8,
  kWeightsLost,
  kDiverges,
  kDivergenceOutlasted,
  kUpdateLost,
  kLossMadeWrong,
  kLeftBenchmark,
  kProgramEnded,
  kSilence,
  kUnexplained,
};
inline constexpr size_t kForms = 43;  // as many as Form has; ours
constexpr uint64_t Bit(Form form) {
  return uint64_t{1} << static_cast<size_t>(form);
}

// A form that holds, and what it says before its words are made.
struct Match {
  Form form = Form::kUnexplained;
  CauseVerdict verdict;
  // What its sentences speak of, where they speak of one.
  const Finding* finding = nullptr;
  const OpEvidence* op = nullptr;
  const OpEvidence* other = nullptr;

  // Takes the finding that it begins with. False: there is none.
  bool BeginAt(const Finding* first) {
    finding = first;
    if (first == nullptr) return false;
    verdict.origin = first->subject;
    verdict.step = first->opened_step;
    return true;
  }
  void Say(Tensed sentence) {
    verdict.sentence = std::move(sentence.now);
    verdict.sentence_over = std::move(sentence.over);
  }
  void Say(std::string sentence) { verdict.sentence = std::move(sentence); }
  // Notes that the sentence holds that of the finding; returns it.
  const std::string& Quote(const Finding& finding,
                           InSummary as = InSummary::kPart) {
    verdict.quoted_rule = finding.rule;
    verdict.quoted = finding.subject;
    verdict.quoted_as = as;
    return finding.sentence;
  }
  // Adds nothing without a sentence.
  void Support(EvidenceGrade grade, std::string sentence) {
    if (sentence.empty()) return;
    verdict.evidence.push_back({grade, std::move(sentence)});
  }
  void Advise(std::string sentence, std::string framework = "") {
    verdict.actions.push_back({std::move(framework), std::move(sentence)});
  }
};

// The forms that were asked so far.
class Matches {
 public:
  bool has(Form form) const { return Find(form) != nullptr; }
  // Returns the match of `form`; null where it does not hold.
  const Match* Find(Form form) const {
    const auto& match = all_[static_cast<size_t>(form)];
    return match ? &*match : nullptr;
  }
  // Returns the first of `forms` that holds; null where none does.
  const Match* FirstOf(uint64_t forms) const {
    const uint64_t held = forms & held_;
    return held == 0 ? nullptr : &*all_[std::countr_zero(held)];
  }
  void Put(Match match) {
    held_ |= Bit(match.form);
    all_[static_cast<size_t>(match.form)] = std::move(match);
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::array<std::optional<Match>, kForms> all_;
  uint64_t held_ = 0;  // Bit() of those
};

struct CauseForm {
  // True: it holds. Fills in grade, origin, step and what the row has not.
  using When = bool(const Facts& f, const Matches& before, Match* match);
  // Makes sentence, evidence and the advice that has numbers. Decides nothing.
  using Say = void(const Facts& f, Match* match);

  Form form;
  Cause cause;
  RuleSet rules;       // whose findings it explains; `when` may change that
  Severity ceiling;    // of those; `when` may change that, too
  uint64_t yields_to;  // Bit() of forms that, where they hold, say it better
  When* when;
  Say* say;
};

// Each in the file of its cause.
CauseForm::When WhenWildWeight, WhenPaddingCounted, WhenMask,
    WhenPaddingPossible, WhenWeightsSpoilt, WhenNanFromOp, WhenNanFromLoss,
    WhenNanBackward, WhenNanAtAnyScale, WhenOpAtAnyScale, WhenFindingAtAnyScale,
    WhenOutlierBatch, WhenCorruption, WhenRanksDisagree, WhenScaleIsNone,
    WhenUnscaledWrongly, WhenScalerMisused, WhenLayerScaleCollapsed,
    WhenStartUp, WhenFixedScaleTooHigh, WhenRangeOverflow, WhenCollapseUnseen,
    WhenCollapseMostly, WhenCollapseStuck, WhenCollapseLow, WhenNoSingleScale,
    WhenUnderflow, WhenFp8, WhenDiverges, WhenDivergenceOutlasted, WhenSilence,
    WhenUpdateMadeWrong, WhenUpdateLost, WhenLossMadeWrong, WhenProgramEnded,
    WhenLayerNotUnscaled, WhenLayerScales, WhenLeftBenchmark, WhenLateStart,
    WhenScoreGrows, WhenRecurs, WhenWeightsLost;
CauseForm::Say SayWildWeight, SayPaddingCounted, SayMask, SayPaddingPossible,
    SayWeightsSpoilt, SayNanFromOp, SayNanFromLoss, SayNanBackward,
    SayNanAtAnyScale, SayOpAtAnyScale, SayFindingAtAnyScale, SayOutlierBatch,
    SayCorruption, SayRanksDisagree, SayScaleIsNone, SayUnscaledWrongly,
    SayScalerMisused, SayLayerScaleCollapsed, SayStartUp, SayFixedScaleTooHigh,
    SayRangeOverflow, SayCollapseUnseen, SayCollapseMostly, SayCollapseStuck,
    SayCollapseLow, SayNoSingleScale, SayUnderflow, SayFp8, SayDiverges,
    SayDivergenceOutlasted, SaySilence, SayUpdateMadeWrong, SayUpdateLost,
    SayLossMadeWrong, SayProgramEnded, SayLayerNotUnscaled, SayLayerScales,
    SayLeftBenchmark, SayLateStart, SayScoreGrows, SayRecurs, SayWeightsLost;

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_CAUSE_FORM_H_
