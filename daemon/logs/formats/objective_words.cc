// What programs say when the loss is made of something else from here on. Of
// any program, beside its own lines.
//
// -- enabling perceptual loss (weight 1.0) --
// Unfreezing the backbone
// ===== Stage 2 =====
// level 2: sequences of 16
// curriculum: max_len=32

#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/objective_knob.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kMarks[] = {
    "hanging ",   "ask ",        "nabling ",   "ctivating ", "tching ",
    "urning on ", "ntroducing ", "nfreezing ", "tage ",      "hase ",
    "evel ",      "esson ",      "ifficulty",  "urriculum"};
constexpr size_t kLine = 100;  // bytes; ours: an announcement is short

constexpr std::string_view kVerbs[] = {"enabling ",    "activating ",
                                       "switching ",   "turning on ",
                                       "introducing ", "changing "};
constexpr std::string_view kParts[] = {"loss",       "term",    "objective",
                                       "curriculum", "penalty", "augmentation",
                                       "regulari"};
constexpr std::string_view kStages[] = {"stage ", "phase ", "task "};
constexpr std::string_view kBegins[] = {"enter", "start", "begin", "switch",
                                        "moving to"};

// What is counted up as a training gets on, and how many bytes may stand before
// its number.
constexpr size_t kNear = 3;  // bytes, of what is counted in whole ones; ours
struct Counted {
  std::string_view word;
  size_t room;
};
constexpr Counted kCounted[] = {{"stage ", 3},      {"phase ", 3},
                                {"level ", 3},      {"lesson ", 3},
                                {"difficulty", 12}, {"curriculum", 16}};

// The number that follows the word at `at`.
std::optional<double> NumberOf(std::string_view text, size_t at,
                               const Counted& counted) {
  const size_t begin = at + counted.word.size();
  const size_t digit = text.find_first_of("0123456789", begin);
  if (digit == text.npos || digit > begin + counted.room) return std::nullopt;
  const std::optional<double> number = Scan(text, digit).Number();
  const bool whole = number && *number == std::floor(*number);
  return whole || counted.room > kNear ? number : std::nullopt;
}

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

// Where `text` says in words that another part of the objective begins; npos:
// it does not.
size_t BeginsPart(std::string_view text) {
  const size_t unfreezing = text.find("unfreezing ");
  if (unfreezing != text.npos) return unfreezing;
  for (const std::string_view verb : kVerbs) {
    const size_t at = text.find(verb);
    if (at != text.npos && HasOneOf(text.substr(at), kParts)) return at;
  }
  for (const std::string_view stage : kStages) {
    const size_t at = text.find(stage);
    if (at != text.npos && BeginsStage(text, at, stage)) return at;
  }
  return text.npos;
}

class ObjectiveReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (line.size() > kLine) return;
    const std::string lower = LowerCase(line);
    const std::string_view text = lower;
    // Of a loss scaler, or of memory.
    if (text.find("scal") != text.npos || text.find("zero") != text.npos)
      return;
    size_t at = BeginsPart(text);
    for (size_t i = 0; i < counts_.size(); ++i) {
      const size_t word = text.find(kCounted[i].word);
      if (word == text.npos) continue;
      const std::optional<double> number = NumberOf(text, word, kCounted[i]);
      if (number && counts_[i].GoesOn(*number)) at = word;
    }
    if (at != text.npos) AddFact(LogFact::Kind::kOtherObjective, at, facts);
  }

 private:
  struct Count {
    // The next one begins: as planned, and not from one to another and back.
    bool GoesOn(double number) {
      const bool up = number > newest;
      newest = number;
      return moves.Moves(number) && up;
    }
    ObjectiveKnob moves;
    double newest = 0;
  };

  std::array<Count, std::size(kCounted)> counts_;
};

}  // namespace

const LogFormat kObjectiveWords = {
    .name = "objective_words",
    .title = "what any program says when its loss becomes another one",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .within_lines = true,
    .marks = kMarks,
    .make = Fresh<ObjectiveReader>,
};

}  // namespace nanwatch
