// Losses, and what is printed beside them, in words (in_words.h).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/find_word.h"
#include "logs/in_words.h"
#include "logs/loss_parts.h"
#include "logs/one_of.h"
#include "logs/player_losses.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

// `text` ends with the words "cross entropy", blanks apart.
bool EndsWithCrossEntropy(std::string_view text) {
  text = TrimBlanks(text);
  return text.ends_with("ross entropy") || text.ends_with("ross Entropy") ||
         text.ends_with("ross-entropy") || text.ends_with("ross-Entropy");
}

// "train_loss", "train_LOSS".
bool IsTrainLoss(std::string_view name) {
  return name.size() == 10 && name.starts_with("train_");
}

// Of "best loss", "min loss".
bool IsOfOtherLoss(std::string_view word) {
  return word == "best" || word == "Best" || word.starts_with("min") ||
         word.starts_with("Min");
}

// Bytes of "is " or "became " where `text` begins with it.
size_t SizeOfVerb(std::string_view text) {
  constexpr std::string_view kVerbs[] = {"is ", "became ", "becomes ",
                                         "turned "};
  size_t size = 0;
  for (const std::string_view verb : kVerbs) {
    if (text.starts_with(verb)) size = verb.size();
  }
  return size;
}

// Whether a word stands right before `at`: "logit scale" is another one.
bool IsBehindWord(std::string_view line, size_t at) {
  const std::string_view before = TrimBlanks(line.substr(0, at));
  return !before.empty() && IsLetter(before.back());
}

// The number behind the first of `names` that begins a word; `alone`: and has
// none before it.
std::optional<Scan::Printed> BehindName(std::string_view line,
                                        std::span<const std::string_view> names,
                                        bool alone = false) {
  for (const std::string_view name : names) {
    for (size_t at = FindWord(line, name); at != std::string_view::npos;
         at = FindWord(line, name, at + 1)) {
      if (at > 0 && IsLetterOrMark(line[at - 1])) continue;
      if (alone && IsBehindWord(line, at)) continue;
      Scan scan(InsideCall(line.substr(at + name.size())));
      if (const auto number = scan.PrintedNumber()) return number;
    }
  }
  return std::nullopt;
}

// Behind a name of one word that ends with scale: "amp_scale 65536".
std::optional<Scan::Printed> BehindScaleName(std::string_view line) {
  constexpr std::string_view kEnd = "scale ";
  for (size_t at = line.find(kEnd); at != std::string_view::npos;
       at = line.find(kEnd, at + 1)) {
    size_t begin = at;
    while (begin > 0 && IsLetterOrMark(line[begin - 1])) --begin;
    const size_t end = at + kEnd.size() - 1;
    const std::string_view name = line.substr(begin, end - begin);
    if (begin == at || UsualMeaning(name) != ColumnMeaning::kLossScale) {
      continue;
    }
    Scan scan(line, end + 1);
    if (const auto number = scan.PrintedNumber()) return number;
  }
  return std::nullopt;
}

// "d_loss 1.38 g_loss 0.71", "D loss 1.38, G loss 0.71", of a line that shows
// no loss of the whole: neither is a part of one.
std::optional<NamedLoss> RivalsInWords(std::string_view line) {
  std::array<std::optional<double>, 2> losses;  // by Player
  size_t behind = 0;
  for (size_t at = line.find("oss "); at != line.npos;
       at = line.find("oss ", at + 1)) {
    size_t begin = at;
    while (begin > 0 && IsLetterOrMark(line[begin - 1])) --begin;
    if (at - begin == 1) begin -= LastWord(line.substr(0, begin)).size() + 1;
    if (begin > at) begin = 0;
    const Player player = PlayerOf(line.substr(begin, at + 3 - begin));
    const auto value = Scan(InsideCall(line.substr(at + 4))).Number();
    if (player == Player::kNone || !value) continue;
    if (IsEvaluation(line.substr(0, begin))) return std::nullopt;
    std::optional<double>& loss = losses[static_cast<size_t>(player)];
    if (!loss) loss = value;
    behind = at + 4;
  }
  if (!losses[0] || !losses[1]) return std::nullopt;
  return NamedLoss{
      .value = *losses[0], .rival = losses[1], .parts = true, .at = behind};
}

// "Batch 500, Cost 41.25,": not what it takes, "Time cost 3.1", "cost 3.1 s".
std::optional<NamedLoss> CostInWords(std::string_view line) {
  for (const std::string_view word : {"Cost ", "cost "}) {
    const size_t at = line.find(word);
    if (at == line.npos || (at > 0 && IsLetterOrMark(line[at - 1]))) continue;
    const std::string_view before = line.substr(0, at);
    const bool time = NamesTime(LowerCase(LastWord(before)));
    if (time || IsEvaluation(before)) continue;
    Scan scan(line, at + word.size());
    const std::optional<double> cost = scan.Number();
    if (!cost || (!scan.done() && scan.peek() != ',')) continue;
    return NamedLoss{.value = *cost, .weak = true, .at = at + word.size()};
  }
  return std::nullopt;
}

}  // namespace

std::optional<NamedLoss> LossInWords(std::string_view line) {
  static constexpr std::string_view kLosses[] = {"loss ", "Loss ", "LOSS ",
                                                 "loss] ", "Loss] "};
  // Most lines have none.
  if (!HasWord(line, "oss") && !HasWord(line, "OSS")) return CostInWords(line);
  std::optional<NamedLoss> term;
  std::optional<double> parts;
  size_t behind = 0;
  bool of_policy = false;
  for (const std::string_view word : kLosses) {
    for (size_t at = line.find(word); at != std::string_view::npos;
         at = line.find(word, at + 1)) {
      std::string_view before = line.substr(0, at);
      while (!before.empty() && IsLetterOrMark(before.back())) {
        before.remove_suffix(1);
      }
      const std::string_view name =
          line.substr(before.size(), at + 4 - before.size());
      const bool classes = NamesCrossEntropy(name);
      const bool whole = name.size() == 4 || IsTrainLoss(name) || classes;
      if (!whole && !IsPartOfLoss(name)) continue;
      if (IsEvaluation(before) || IsOfOtherLoss(LastWord(before))) continue;
      std::string_view rest = line.substr(at + word.size());
      rest.remove_prefix(SizeOfVerb(rest));
      Scan scan(InsideCall(rest));
      const std::optional<double> loss = scan.Number();
      // "loss 3/60", but "train/val loss 1.91/1.76".
      const bool ratio = scan.peek() == '/' && !HasWord(before, "rain/");
      if (!loss || scan.peek() == '%' || ratio) continue;
      if (whole) {
        const NamedLoss named{
            .value = *loss,
            .cross_entropy = classes || EndsWithCrossEntropy(before),
            .of_policy = IsOfPolicy(LastWord(before)),
            .at = at + word.size()};
        // "avg ctc loss 2.7, avg loss 3.1": a term, where a whole follows.
        if (!MakesPart(before) || named.cross_entropy) return named;
        if (!term) term = named;
        continue;
      }
      parts = parts.value_or(0) + *loss;
      of_policy |= IsOfPolicy(name);
      behind = at + word.size();
    }
  }
  if (term || parts) {
    if (const auto rivals = RivalsInWords(line)) return rivals;
  }
  if (term) return term;
  if (!parts) return std::nullopt;
  return NamedLoss{
      .value = *parts, .parts = true, .of_policy = of_policy, .at = behind};
}

std::optional<size_t> EvaluationLossInWords(std::string_view line) {
  for (size_t at = line.find("oss "); at != line.npos;
       at = line.find("oss ", at + 1)) {
    if (at == 0 || (line[at - 1] | 0x20) != 'l') continue;
    const std::string_view before = line.substr(0, at - 1);
    constexpr std::string_view kOthers[] = {"best", "min", "low"};
    if (!IsEvaluation(before) || HasOneOf(LowerCase(before), kOthers)) continue;
    Scan scan(InsideCall(line.substr(at + 4)));
    if (scan.Number() && scan.peek() != '%') return at + 4;
  }
  return std::nullopt;
}

bool SaysLossIsNaN(std::string_view line) {
  static constexpr std::string_view kOthers[] = {"if ", "If ",  "hen ",
                                                 "kip", "gnor", "iscard"};
  const std::optional<NamedLoss> loss = LossInWords(line);
  return loss && !loss->parts && !std::isfinite(loss->value) &&
         !HasOneOf(line, kOthers);
}

std::optional<Scan::Printed> GradNormInWords(std::string_view line) {
  static constexpr std::string_view kNames[] = {
      "grad_norm ", "grad norm ", "grad-norm ", "Grad norm ",    "Grad Norm ",
      "GRAD NORM ", "gnorm ",     "gradnorm ",  "gradient norm "};
  if (!HasWord(line, "orm ") && !HasWord(line, "ORM ")) return std::nullopt;
  return BehindName(line, kNames);
}

namespace {

std::optional<Scan::Printed> LossScaleInWords(std::string_view line) {
  static constexpr std::string_view kNames[] = {"loss_scale ", "loss scale ",
                                                "loss-scale ", "Loss scale ",
                                                "Loss Scale ", "LOSS SCALE "};
  static constexpr std::string_view kShort[] = {"scale ", "Scale "};
  auto scale = BehindName(line, kNames);
  if (!scale) scale = BehindName(line, kShort, true);
  return scale ? scale : BehindScaleName(line);
}

std::optional<Scan::Printed> WeakNormInWords(std::string_view line) {
  static constexpr std::string_view kNames[] = {"gn ", "|g| ", "|grad| ",
                                                "||g|| ", "||grad|| "};
  return BehindName(line, kNames);
}

std::optional<Scan::Printed> RateInWords(std::string_view line) {
  static constexpr std::string_view kNames[] = {"lr ", "LR ", "learning rate ",
                                                "learning_rate "};
  return BehindName(line, kNames);
}

std::optional<Scan::Printed> AccuracyInWords(std::string_view line) {
  static constexpr std::string_view kNames[] = {"acc ", "Acc ", "ACC ",
                                                "accuracy ", "Accuracy "};
  for (const std::string_view name : kNames) {
    const size_t at = FindWord(line, name);
    if (at == line.npos || (at > 0 && IsLetterOrMark(line[at - 1]))) continue;
    if (IsEvaluation(LastWord(line.substr(0, at)))) continue;
    Scan scan(line, at + name.size());
    if (const auto number = scan.PrintedNumber()) return number;
  }
  return std::nullopt;
}

// Of names that are known where they have a sign: "ep_rew_mean 23.1".
std::optional<double> RewardInWords(std::string_view line) {
  static constexpr std::string_view kStems[] = {"rew", "Rew", "ret", "Ret",
                                                "core"};
  if (!HasOneOf(line, kStems)) return std::nullopt;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view name = line.substr(begin, end - begin);
    begin = end + 1;
    if (begin >= line.size()) break;
    const bool score =
        (name == "score" || name == "Score") && SpeaksOfEpisodes(line);
    const bool reward =
        HasOneOf(name, kStems) && UsualMeaning(name) == ColumnMeaning::kReward;
    if (!score && !reward) continue;
    Scan scan(InsideCall(line.substr(begin)));
    if (const std::optional<double> value = scan.Number()) return value;
  }
  return std::nullopt;
}

}  // namespace

void AddBesideLoss(std::string_view line, ColumnFact* fact) {
  if (const auto scale = LossScaleInWords(line)) {
    const bool ends_line = scale->text.end() == line.end();
    fact->AddScale(scale->text, scale->value, ends_line);
  }
  if (const auto norm = GradNormInWords(line)) {
    fact->AddNumber(ColumnMeaning::kGradNorm, norm->value);
  } else if (const auto weak = WeakNormInWords(line)) {
    fact->AddNumber(ColumnMeaning::kWeakNorm, weak->value);
  }
  if (const auto reward = RewardInWords(line)) {
    fact->AddNumber(ColumnMeaning::kReward, *reward);
  }
  if (const auto rate = RateInWords(line)) {
    fact->AddRateInWords(rate->value);
  }
  if (const auto accuracy = AccuracyInWords(line)) {
    fact->AddNumber(ColumnMeaning::kAccuracy, accuracy->value);
  }
}

}  // namespace nanwatch
