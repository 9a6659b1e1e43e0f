// What programs say when the loss is made of something else from here on. Of
// any program, beside its own lines.
//
// -- enabling perceptual loss (weight 1.0) --
// Unfreezing the backbone
// ===== Stage 2 =====

#include <string>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kMarks[] = {
    "nabling ",    "ctivating ", "tching ", "urning on ",
    "ntroducing ", "nfreezing ", "tage ",   "hase "};
constexpr size_t kLine = 100;  // bytes; ours: an announcement is short

constexpr std::string_view kVerbs[] = {"enabling ", "activating ", "switching ",
                                       "turning on ", "introducing "};
constexpr std::string_view kParts[] = {"loss",       "term",    "objective",
                                       "curriculum", "penalty", "augmentation",
                                       "regulari"};
constexpr std::string_view kStages[] = {"stage ", "phase "};
constexpr std::string_view kBegins[] = {"enter", "start", "begin", "switch",
                                        "moving to"};

// A drawn line ends there, "=====".
bool EndsInRule(std::string_view text) {
  text = TrimBlanks(text);
  return text.ends_with("==") || text.ends_with("--") || text.ends_with("**") ||
         text.ends_with("##");
}

// "===== Stage 2 =====", "Entering phase 3: long sequences". Not the first one.
bool BeginsStage(std::string_view line, size_t at, std::string_view word) {
  const std::string_view before = line.substr(0, at);
  const std::string_view number = line.substr(at + word.size());
  if (number.empty() || number[0] < '2' || number[0] > '9') return false;
  return HasOneOf(before, kBegins) || EndsInRule(before);
}

void Read(std::string_view line, FactList* facts) {
  if (line.size() > kLine) return;
  const std::string lower = LowerCase(line);
  const std::string_view text = lower;
  // Of a loss scaler, or of memory.
  if (text.find("scal") != text.npos || text.find("zero") != text.npos) return;
  size_t at = text.find("unfreezing ");
  for (const std::string_view verb : kVerbs) {
    const size_t begin = text.find(verb);
    if (at != text.npos || begin == text.npos) continue;
    if (HasOneOf(text.substr(begin), kParts)) at = begin;
  }
  for (const std::string_view stage : kStages) {
    const size_t begin = text.find(stage);
    if (at == text.npos && begin != text.npos &&
        BeginsStage(text, begin, stage)) {
      at = begin;
    }
  }
  if (at != text.npos) AddFact(LogFact::Kind::kOtherObjective, at, facts);
}

}  // namespace

const LogFormat kObjectiveWords = {
    .name = "objective_words",
    .title = "what any program says when its loss becomes another one",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .within_lines = true,
    .marks = kMarks,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
