// The accuracies that programs print of evaluations. Of any program, beside its
// own lines.
//
// {'eval_loss': 2.314, 'eval_accuracy': 0.0889, 'epoch': 5.0}
// Epoch 3 | train loss 2.31 | val acc 10.4%
//    Val. Loss: 2.306 |  Val. Acc: 6.67%
// Test set: Average loss: 2.3054, Accuracy: 34/360 (9%)

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr std::string_view kMarks[] = {"acc", "Acc", "ACC"};

// The number behind the name: "0.0889", "6.67%", "34/360"; a share. One above 1
// is in percent.
std::optional<double> ShareBehind(std::string_view text) {
  const size_t at = text.find_first_not_of("'\":= ");
  if (at == text.npos || at == 0) return std::nullopt;
  Scan scan(text, at);
  const std::optional<double> number = scan.Number();
  if (!number || !(*number >= 0)) return std::nullopt;
  double share = *number;
  if (scan.Skip("/")) {
    const std::optional<double> whole = scan.Number();
    if (!whole || !(*whole >= share) || *whole == 0) return std::nullopt;
    share /= *whole;
  } else if (scan.peek() == '%' || share > 1) {
    share /= 100;
  }
  return share <= 1 ? std::optional(share) : std::nullopt;
}

// The name that holds the mark at `at` says so, or the word before it, or the
// line does before it names a loss: that of an evaluation.
bool IsOfEvaluation(std::string_view line, size_t at) {
  size_t begin = at;
  while (begin > 0 && (IsLetter(line[begin - 1]) || line[begin - 1] == '_')) {
    --begin;
  }
  if (begin != at) return IsEvaluation(line.substr(begin, at - begin));
  const std::string_view before = TrimBlanks(line.substr(0, at));
  if (IsEvaluation(before.substr(before.find_last_of(" \t|,") + 1)))
    return true;
  const std::string_view head = before.substr(0, line.find("oss"));
  return head.find("rain") == head.npos && IsEvaluation(head);
}

class AccuracyReader : public LineReader {
 public:
  // The first of the line.
  void Read(std::string_view line, FactList* facts) override {
    for (size_t at = line.find_first_of("aA"); at != line.npos;
         at = line.find_first_of("aA", at + 1)) {
      const std::string word = LowerCase(line.substr(at, kName.size()));
      if (!word.starts_with(kShort)) continue;
      const size_t size = word == kName ? kName.size() : kShort.size();
      const std::optional<double> share = ShareBehind(line.substr(at + size));
      if (!share || !IsOfEvaluation(line, at)) continue;
      AddFact(LogFact::Kind::kAccuracy, at, facts).score = *share;
      return;
    }
  }

 private:
  static constexpr std::string_view kName = "accuracy";
  static constexpr std::string_view kShort = "acc";
};

}  // namespace

const LogFormat kEvaluationAccuracy = {
    .name = "evaluation_accuracy",
    .title = "the accuracies that any program prints of evaluations",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .within_lines = true,
    .marks = kMarks,
    .make = Fresh<AccuracyReader>,
};

}  // namespace nanwatch
