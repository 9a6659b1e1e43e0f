// Diagnosis: ranked causes of what is found in a run, with evidence and
// concrete actions.

#ifndef NANWATCH_MODEL_DIAGNOSIS_H_
#define NANWATCH_MODEL_DIAGNOSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "model/op.h"
#include "model/severity.h"

namespace nanwatch {

enum class Cause : uint8_t {
  kStartupCalibration,     // a dynamic scaler finds its scale; harmless
  kRangeOverflow,          // ordinary fp16 range overflow; the scaler's job
  kHarmlessPadding,        // overflow in padding or masked elements only
  kScaleIndependentOp,     // an op overflows whatever the scale
  kCollapseWithUnderflow,  // the scale is too low: gradients vanish
  kNanFromForward,         // NaN or Inf born in the forward pass or the data
  kDivergence,             // loss or gradients diverge without overflow
  kRankDisagreement,       // ranks that must agree do not
  kScalerMisuse,           // transitions that the scaler cannot make
  kSilence,                // records stopped or were lost
  kUnexplained,            // found, but no cause is supported
  // Numbers are kept in history: new ones go to the end.
  kUnderflow,         // the scale is lower than need be: gradients are lost
  kNoSingleScale,     // no loss scale suits all layers
  kFp8Scaling,        // the scale of an FP8 tensor does not follow it
  kSilentCorruption,  // a device or a link is suspected
  kNanFromBackward,   // NaN born in the backward pass of a finite loss
  kOutlierBatch,      // a batch with a loss and gradients far from all others
  kProgramEnded,      // the program broke off: an error, a signal, a person
  kUpdateMadeWrong,   // by the program: nothing is learned, or not from this
  kUpdateLost,        // updates are smaller than the weights' format resolves
  kLossMadeWrong,     // the loss is none that it is said to be
  kLayerScales,       // a layer's own loss scale does not suit its gradients
  kLeftBenchmark,     // the run does not do what its benchmark did
  kLearnsYet,         // what stood or rose was no trouble: it learns; harmless
  kWeightsLost,       // the loss is back where it began, or as before a restart
};
inline constexpr int kCauses = 25;
constexpr Cause Last(Cause) { return static_cast<Cause>(kCauses - 1); }
std::string_view Name(Cause cause);  // "harmless_padding", ...

enum class EvidenceGrade : uint8_t {
  kHypothesis,   // fits, but was not measured
  kSupported,    // measured, other explanations remain
  kEstablished,  // measured, and excludes the others
};
constexpr EvidenceGrade Last(EvidenceGrade) {
  return EvidenceGrade::kEstablished;
}
std::string_view Name(EvidenceGrade grade);

struct Evidence {
  EvidenceGrade grade = EvidenceGrade::kHypothesis;
  std::string sentence;
};

struct Action {
  std::string framework;  // empty: any
  std::string sentence;   // imperative, concrete
};

struct CauseVerdict {
  Cause cause = Cause::kUnexplained;
  EvidenceGrade grade = EvidenceGrade::kHypothesis;  // of the cause itself
  // Where it began: the first op, rank and step. Rank -1: all or unknown.
  Subject origin;
  // Of its op, as far as the client told: the name alone says which op it is.
  std::string op_type;
  Dtype op_dtype = Dtype::kUnknown;
  int64_t step = 0;
  // The rule whose finding it rests on, by which its incident is named; kNone:
  // that of the first.
  RuleId rule = RuleId::kNone;
  std::string sentence;       // the cause, in one sentence
  std::string sentence_over;  // the same once it is over; empty: no other
  // The finding whose sentence is in that of the cause, and how much of it.
  // kNone, kNot: there is none.
  RuleId quoted_rule = RuleId::kNone;
  Subject quoted;
  InSummary quoted_as = InSummary::kNot;
  std::vector<Evidence> evidence;
  std::vector<Action> actions;
  // No finding that this cause explains is more severe than this, but for those
  // of `uncapped`: consequences that hurt although the cause itself does not.
  Severity ceiling = Severity::kCritical;
  RuleSet rules;     // whose findings it explains
  RuleSet uncapped;  // of `rules`
  // Names of the ops whose findings it explains; empty: of any op.
  std::vector<std::string> ops;
  // And where `ops` are some: of those beyond limits::kOpEvidence, of which
  // nothing but findings is known. Sorted.
  std::vector<std::string> unlisted_ops;
};

// True when `cause` explains the finding: its rule and, if it has one, its op.
bool Explains(const CauseVerdict& cause, const Finding& finding);
// Returns the finding's severity under the cause's ceiling. REQUIRES:
// Explains().
Severity Capped(const CauseVerdict& cause, const Finding& finding);

// How a run stands: what a headline says, for programs.
enum class Condition : uint8_t {
  kNotKnown,   // nobody looked yet
  kNoStepYet,  // healthy so far: no step was reported
  kHealthy,
  kNoted,           // healthy, with a note
  kHealed,          // what was worth a warning is over
  kUnsettled,       // too little to judge: the newest of few losses rise
  kNotRead,         // of a log: not all was read, and nothing found in the rest
  kNothingApplied,  // no update was applied yet, as a search for a scale begins
  kNotLearning,     // no update is applied, and no rule warns of it
  kHeld,            // what was worth a warning eased, and is not over
  kTrouble,         // something is found that is worth a warning
};
constexpr Condition Last(Condition) { return Condition::kTrouble; }
std::string_view Name(Condition condition);  // "no_step_yet", "healthy", ...
// True from kNoStepYet to kNoted: nothing ever was worth a warning.
bool IsHealthy(Condition condition);

// Ordered: the cause that best explains comes first. Empty: nothing is found.
struct Diagnosis {
  std::vector<CauseVerdict> causes;
  Condition condition = Condition::kNotKnown;
  std::string headline;       // the verdict in one sentence, also when healthy
  std::string headline_lead;  // what it begins with, which `condition` says
  // Index of the cause whose sentence it says; absent: it says another.
  std::optional<int32_t> headline_cause;
};
// Returns the first cause that explains the finding; null where none does.
const CauseVerdict* FirstCause(const Diagnosis& diagnosis,
                               const Finding& finding);
// Returns the finding's severity under the ceiling of that cause, if there is
// one. By finding, not by rule: another op stays as severe as it is.
Severity UnderCeiling(const Diagnosis& diagnosis, const Finding& finding);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_DIAGNOSIS_H_
