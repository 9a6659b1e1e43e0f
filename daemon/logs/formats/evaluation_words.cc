// What programs print of an evaluation's loss that is not finite or far above
// the lowest, and of one that is neither any more. Of any program, beside its
// own lines.
//
// {'eval_loss': nan, 'eval_runtime': 12.1}
// step 250: train loss 1.9312, val loss nan
// Validation cost was nan
// Test set: Average loss: nan, Accuracy: 980/10000 (10%)
// i=0040 train=0.9429 valid=nan
// loss_val: nan

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "logs/evaluation_news.h"
#include "logs/find_word.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// In eval, val, valid and validation; in test and testing; "Va. loss", "va
// 2.3", "dev loss", "holdout loss".
constexpr std::string_view kMarks[] = {
    "val", "Val", "VAL", "test", "Test", "TEST",   "va.",
    "Va.", "va ", "va=", "dev ", "dev_", "holdout"};

// Of regression, too: val_mse, eval-rmse, valid_nll.
constexpr std::string_view kLosses[] = {"loss", "Loss", "LOSS", "cost", "mse",
                                        "MSE",  "nll",  "NLL",  "ppl"};

// What names an evaluation's loss, and its value.
struct Named {
  std::string_view name;
  double value = 0;
  bool loss = true;  // its name says that it is one
};

// "Valid | Epoch 12 | 1/3 | Loss nan": all that follows is the evaluation's.
bool BeginsLine(std::string_view behind) {
  constexpr std::string_view kWords[] = {"epoch", "step", "iter", "batch"};
  const size_t at = behind.find_first_not_of(" |:]-[(");
  if (at == behind.npos || at == 0) return false;
  const std::string word = LowerCase(behind.substr(at, 5));
  return std::any_of(
      std::begin(kWords), std::end(kWords),
      [&word](std::string_view w) { return word.starts_with(w); });
}

// "we stop if loss = nan", "3 items (loss = nan)".
bool IsInProse(std::string_view before) {
  constexpr std::string_view kWords[] = {"if ", "hen ", "with ", "skip"};
  const size_t bracket = before.rfind('(');
  const bool within =
      bracket != before.npos && before.find(')', bracket) == before.npos;
  return within || HasOneOf(before, kWords);
}

// Behind the mark: "_loss': nan", "idation cost was nan", "id Epoch: 3 Loss:
// nan", "id=nan". What a sign parts from it is another number's.
std::optional<Named> LossBehind(std::string_view text) {
  constexpr size_t kFar = 56;         // bytes from the mark to the loss; ours
  constexpr size_t kFarInLine = 120;  // the same of a line of its own; ours
  Scan word(text);
  if (!word.Skip("idation") && !word.Skip("uation") && !word.Skip("ing")) {
    if (!word.Skip("id")) word.Skip("i");
  }
  if (IsLetter(word.peek())) return std::nullopt;
  const bool sign = word.peek() == '=' || word.peek() == ':';
  const auto alone = Scan(text, word.at() + (sign ? 1 : 0)).Number();
  const Named of_set{text.substr(0, word.at()), alone.value_or(0), false};
  if (sign && alone) return of_set;
  // "eval-rmse:2.5".
  const bool dash = word.peek() == '-';
  const bool line = BeginsLine(text.substr(word.at()));
  const std::string_view near = text.substr(0, line ? kFarInLine : kFar);
  for (const std::string_view loss : kLosses) {
    const size_t at = near.find(loss, word.at());
    if (at == near.npos) continue;
    const size_t from = word.at() + (dash ? 1 : 0);
    const size_t parted = near.substr(0, at).find_first_of(",;|}-", from);
    if (parted != near.npos && !line) continue;
    Scan scan(text, at + loss.size());
    const size_t end = scan.at();
    if (!scan.Skip('\'')) scan.Skip('"');
    const bool blank = scan.peek() == ' ';
    Scan sign = scan;
    sign.SkipBlanks();  // "loss = nan"
    if (!IsInProse(text.substr(0, at)) && (sign.Skip(':') || sign.Skip('='))) {
      scan = sign;
    } else {
      if (!blank) continue;
      if (!scan.Skip(" was ")) scan.Skip(" is ");
    }
    scan.SkipBlanks();
    if (scan.Skip('|')) scan.SkipBlanks();  // of a table's row
    if (!scan.Skip('\'')) scan.Skip('"');
    scan = Scan(InsideCall(scan.rest()));  // "val_loss tensor(nan)"
    std::optional<double> value = scan.Number();
    // "Validation loss 526:  0.42": the first is the step.
    if (value && *value == std::floor(*value) && scan.Skip(": ")) {
      const std::optional<double> behind = scan.Number();
      if (behind && scan.peek() != '%') value = behind;
    }
    if (value) return Named{text.substr(0, end), *value, loss != "ppl"};
  }
  return alone ? std::optional(of_set) : std::nullopt;
}

// A number of the line is below 0.
bool ShowsNegative(std::string_view line) {
  for (size_t at = line.find('-', 1); at < line.size();
       at = line.find('-', at + 1)) {
    const bool begins = line[at - 1] == ' ' || line[at - 1] == '=';
    if (begins && Scan(line, at).Number()) return true;
  }
  return false;
}

// Returns the name of a perplexity that none can be: not finite, or below 1. 0
// stands for none yet, but beside a loss below 0. Empty: the line has none.
std::string_view OddPerplexity(std::string_view line) {
  constexpr std::string_view kOthers[] = {"log", "neg", "best", "min"};
  for (const std::string_view word : {"erplexity", "ppl", "PPL"}) {
    for (size_t at = FindWord(line, word); at != line.npos;
         at = FindWord(line, word, at + 1)) {
      const size_t end = at + word.size();
      const std::string_view name = NameAtEnd(line.substr(0, end));
      const std::string_view before =
          line.substr(0, static_cast<size_t>(name.data() - line.data()));
      const std::string words =
          LowerCase(name) + LowerCase(LastWord(TrimBlanks(before)));
      if (HasOneOf(words, kOthers)) continue;
      const size_t value = line.find_first_not_of("'\":= ", end);
      if (value == line.npos || value == end) continue;
      Scan scan(line, value);
      const std::optional<double> found = scan.Number();
      if (!found || scan.peek() == '%') continue;
      const bool none = *found == 0 && !ShowsNegative(line);
      if (!none && (!(*found >= 1) || std::isinf(*found))) return name;
    }
  }
  return {};
}

class EvaluationReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (const std::string_view odd = OddPerplexity(line); !odd.empty()) {
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      return Tell({odd, kNone}, line, facts);
    }
    std::optional<Named> of_set;
    for (size_t at = line.find_first_of(kInitials); at != line.npos;
         at = line.find_first_of(kInitials, at + 1)) {
      const std::optional<Named> found = NamedAt(line, at);
      if (found && found->loss) return Tell(*found, line, facts);
      if (found && !of_set) of_set = found;
    }
    if (!of_set) return;
    of_set->loss = TrainFalls(line);
    Tell(*of_set, line, facts);
  }

 private:
  static constexpr std::string_view kInitials = "vVtTdh";

  static std::optional<Named> NamedAt(std::string_view line, size_t at) {
    const std::string_view rest = line.substr(at);
    const auto* const mark = std::find_if(
        std::begin(kMarks), std::end(kMarks),
        [rest](std::string_view m) { return rest.starts_with(m); });
    if (mark == std::end(kMarks)) return std::nullopt;
    size_t begin = at;
    const bool eval = (line[at] | 0x20) == 'v';
    if (eval && begin > 0 && (line[begin - 1] | 0x20) == 'e') --begin;
    // "loss_val: nan".
    const std::string_view before = line.substr(0, begin);
    // "New best valid loss": of a line before.
    const std::string_view word = LastWord(before);
    if (word == "best" || word == "Best") return std::nullopt;
    const bool behind = before.ends_with("loss_") || before.ends_with("Loss_");
    const bool within =
        begin > 0 && (IsLetter(before.back()) || before.back() == '_');
    if (within && !behind) return std::nullopt;
    // A blank or a sign behind the word is none of it.
    const size_t end = at + mark->size() - (IsLetter(mark->back()) ? 0 : 1);
    std::optional<Named> named = LossBehind(line.substr(end));
    if (!named) return std::nullopt;
    if (behind) begin -= 5;
    named->loss |= behind;
    named->name = line.substr(begin, end - begin + named->name.size());
    return named;
  }

  // "train 0.9 val 2.5": what is printed beside it is a loss, and falls.
  bool TrainFalls(std::string_view line) {
    size_t at = line.find("rain");
    at = at == line.npos ? line.find("tr ") : at + 2;
    if (at == line.npos) return false;
    Scan scan(line, at + 2);
    if (!scan.Skip('=')) scan.Skip(':');
    const std::optional<double> train = scan.Number();
    if (!train || !std::isfinite(*train)) return false;
    if (!train_) train_ = train;
    return *train < *train_;
  }

  void Tell(const Named& named, std::string_view line, FactList* facts) {
    const auto at = static_cast<size_t>(named.name.data() - line.data());
    const size_t loss = line.find("oss");
    const bool alone =
        loss != line.npos && line.find("oss", loss + 1) == line.npos;
    news_.Take(named.value, named.name, at, facts, named.loss, alone);
  }

  EvaluationNews news_;
  std::optional<double> train_;  // the first
};

}  // namespace

const LogFormat kEvaluationWords = {
    .name = "evaluation_words",
    .title = "what any program prints of an evaluation that is no good",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .within_lines = true,
    .marks = kMarks,
    .make = Fresh<EvaluationReader>,
};

}  // namespace nanwatch
