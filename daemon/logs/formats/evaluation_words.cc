// What programs print of an evaluation's loss that is not finite or far above
// the lowest, and of one that is neither any more. Of any program, beside its
// own lines.
//
// {'eval_loss': nan, 'eval_runtime': 12.1}
// step 250: train loss 1.9312, val loss nan
// Validation cost was nan
// Test set: Average loss: nan, Accuracy: 980/10000 (10%)
// i=0040 train=0.9429 valid=nan

#include <algorithm>
#include <optional>
#include <string_view>

#include "logs/evaluation_news.h"
#include "logs/formats/formats.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// In eval, val, valid and validation; in test and testing; "Va. loss".
constexpr std::string_view kMarks[] = {"val",  "Val",  "VAL", "test",
                                       "Test", "TEST", "va.", "Va."};

// Of regression, too: val_mse, val_rmse, valid_nll.
constexpr std::string_view kLosses[] = {"loss", "Loss", "LOSS", "cost",
                                        "mse",  "MSE",  "nll",  "NLL"};

// What names an evaluation's loss, and its value.
struct Named {
  std::string_view name;
  double value = 0;
  bool loss = true;  // its name says that it is one
};

// Behind the mark: "_loss': nan", "idation cost was nan", "id Epoch: 3 Loss:
// nan", "id=nan". What a sign parts from it is another number's.
std::optional<Named> LossBehind(std::string_view text) {
  constexpr size_t kFar = 56;  // bytes from the mark to the loss; ours
  Scan word(text);
  if (!word.Skip("idation") && !word.Skip("uation") && !word.Skip("ing")) {
    word.Skip("id");
  }
  if (IsLetter(word.peek())) return std::nullopt;
  if (word.peek() == '=' || word.peek() == ':') {
    const std::optional<double> value = Scan(text, word.at() + 1).Number();
    if (value) return Named{text.substr(0, word.at()), *value, false};
  }
  const std::string_view near = text.substr(0, kFar);
  for (const std::string_view loss : kLosses) {
    const size_t at = near.find(loss, word.at());
    if (at == near.npos) continue;
    if (near.substr(0, at).find_first_of(",;|}-") != near.npos) continue;
    Scan scan(text, at + loss.size());
    const size_t end = scan.at();
    if (!scan.Skip('\'')) scan.Skip('"');
    if (!scan.Skip(':') && !scan.Skip('=')) {
      if (scan.peek() != ' ') continue;
      if (!scan.Skip(" was ")) scan.Skip(" is ");
    }
    scan.SkipBlanks();
    if (!scan.Skip('\'')) scan.Skip('"');
    const std::optional<double> value = scan.Number();
    if (value) return Named{text.substr(0, end), *value};
  }
  return std::nullopt;
}

class EvaluationReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (size_t at = line.find_first_of(kInitials); at != line.npos;
         at = line.find_first_of(kInitials, at + 1)) {
      const std::string_view rest = line.substr(at);
      const auto* const mark = std::find_if(
          std::begin(kMarks), std::end(kMarks),
          [rest](std::string_view m) { return rest.starts_with(m); });
      if (mark == std::end(kMarks)) continue;
      size_t begin = at;
      const bool eval = (line[at] | 0x20) == 'v';
      if (eval && begin > 0 && (line[begin - 1] | 0x20) == 'e') --begin;
      if (begin > 0 && (IsLetter(line[begin - 1]) || line[begin - 1] == '_')) {
        continue;
      }
      const size_t end = at + mark->size();
      const std::optional<Named> loss = LossBehind(line.substr(end));
      if (!loss) continue;
      const size_t size = end - begin + loss->name.size();
      news_.Take(loss->value, line.substr(begin, size), begin, facts,
                 loss->loss);
      return;
    }
  }

 private:
  static constexpr std::string_view kInitials = "vVtT";

  EvaluationNews news_;
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
