// What programs say when the loss is made of something else from here on, or a
// fold begins. Of any program, beside its own lines.
//
// -- enabling perceptual loss (weight 1.0) --
// INFO: Changing loss based on Stage Two Weights
// Unfreezing the backbone
// ===== Stage 2 =====
// ----- Fold 2/5 -----
// level 2: sequences of 16
// curriculum: max_len=32

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/objective_knob.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kMarks[] = {
    "hanging ",   "ask ",        "nabling ",   "ctivating ", "witching ",
    "urning on ", "ntroducing ", "nfreezing ", "tage",       "TAGE",
    "hase",       "HASE",        "evel ",      "esson ",     "ifficulty",
    "urriculum",  "old ",        "OLD "};
// Said more often than that it is said of each epoch; ours.
constexpr int kMostParts = 4;
constexpr size_t kLine = 120;  // bytes; ours: an announcement is short

constexpr std::string_view kVerbs[] = {"enabling ",    "activating ",
                                       "switching ",   "turning on ",
                                       "introducing ", "changing "};
constexpr std::string_view kParts[] = {"loss",       "term",    "objective",
                                       "curriculum", "penalty", "augmentation",
                                       "regulari"};
constexpr std::string_view kBegins[] = {"enter",  "start",  "begin",
                                        "switch", "moving", "advanc"};

// What is counted up as a training gets on, and how many bytes may stand before
// its number.
constexpr size_t kNear = 3;  // bytes, of what is counted in whole ones; ours
struct Counted {
  std::string_view word;
  size_t room;
};
constexpr Counted kCounted[] = {{"stage", kNear},   {"phase", kNear},
                                {"task", kNear},    {"level", kNear},
                                {"lesson", kNear},  {"fold", kNear},
                                {"difficulty", 12}, {"curriculum", 16}};

// The first of them by their place: "stage two", "second stage", "STAGE II".
constexpr std::string_view kInWords[][3] = {{"two", "second", "ii"},
                                            {"three", "third", "iii"},
                                            {"four", "fourth", "iv"}};

std::optional<double> NumberInWords(std::string_view before,
                                    std::string_view behind) {
  behind = behind.substr(0, behind.find_first_of(" :.,=-"));
  double number = 2;
  for (const auto& words : kInWords) {
    if (behind == words[0] || behind == words[2] ||
        before.ends_with(words[1])) {
      return number;
    }
    ++number;
  }
  return std::nullopt;
}

// The number of the word at `at`.
std::optional<double> NumberOf(std::string_view text, size_t at,
                               const Counted& counted) {
  const size_t begin = at + counted.word.size();
  const std::optional<double> words = NumberInWords(
      TrimBlanks(text.substr(0, at)), TrimBlanks(text.substr(begin)));
  if (words) return words;
  const size_t digit = text.find_first_of("0123456789", begin);
  if (digit == text.npos || digit > begin + counted.room) return std::nullopt;
  if (counted.room == kNear && text[begin] != ' ') return std::nullopt;
  const std::optional<double> number = Scan(text, digit).Number();
  const bool whole = number && *number == std::floor(*number);
  return whole || counted.room > kNear ? number : std::nullopt;
}

// A line or an arrow is drawn before a word, "==> stage 2", or the message
// speaks of nothing else, "INFO: Stage 2: long sequences".
bool IsTitle(std::string_view before, std::string_view behind) {
  constexpr std::string_view kDrawn[] = {"==", "--", "**", "##", "=>", "->"};
  if (std::ranges::any_of(kDrawn, [&](auto e) { return before.ends_with(e); }))
    return true;
  const bool begins =
      before.empty() || before.ends_with(':') || before.ends_with(']');
  const size_t end = behind.find_first_not_of(" #0123456789");
  return begins && (end == behind.npos || behind[end] == ':' ||
                    behind[end] == '/' || behind.substr(end, 3) == "of ");
}

// "unfold 2", "evaluation on fold 2".
bool IsOfOther(std::string_view before) {
  return (!before.empty() && IsLetter(before.back())) || IsEvaluation(before);
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
    if (at != text.npos && ++parts_ > kMostParts) at = text.npos;
    for (size_t i = 0; i < counts_.size(); ++i) {
      const size_t word = text.rfind(kCounted[i].word);
      if (word == text.npos || IsOfOther(text.substr(0, word))) continue;
      const std::optional<double> number = NumberOf(text, word, kCounted[i]);
      if (!number) continue;
      const std::string_view behind =
          text.substr(word + kCounted[i].word.size());
      const bool title = kCounted[i].room == kNear &&
                         IsTitle(TrimBlanks(text.substr(0, word)), behind);
      const bool begins = title || HasOneOf(text, kBegins);
      if (counts_[i].GoesOn(*number, begins)) at = word;
    }
    if (at != text.npos) AddFact(LogFact::Kind::kOtherObjective, at, facts);
  }

 private:
  struct Count {
    // The next one begins: as planned, and not from one to another and back;
    // or the first that the log names, where it `begins` and is not the first.
    bool GoesOn(double number, bool begins) {
      const bool first = newest < 0 && begins && number >= 2;
      const bool up = number > newest;
      newest = number;
      return (moves.Moves(number) && up) || first;
    }
    ObjectiveKnob moves;
    double newest = -1;
  };

  std::array<Count, std::size(kCounted)> counts_;
  int parts_ = 0;  // that were said to begin
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
