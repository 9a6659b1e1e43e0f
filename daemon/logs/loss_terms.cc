#include "logs/loss_terms.h"

#include <algorithm>
#include <cmath>

#include "logs/find_word.h"
#include "logs/in_words.h"
#include "logs/loss_parts.h"
#include "logs/names_before.h"
#include "logs/next_sign.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNameMax = 64;

// A term's name has "loss" in it, and more than the words of a total.
bool IsTerm(std::string_view name) {
  if (name.size() > kNameMax || IsEvaluation(name)) return false;
  const std::string low = LowerCase(name);
  std::string_view rest = low;
  if (rest.find("loss") == std::string_view::npos ||
      rest.find("scale") != std::string_view::npos) {
    return false;
  }
  constexpr std::string_view kWords[] = {
      "loss",    "total", "train", "avg", "mean", "step", "epoch",
      "average", "batch", "sum",   "_",   "/",    ".",    "-"};
  while (!rest.empty()) {
    const auto word = std::find_if(
        std::begin(kWords), std::end(kWords),
        [rest](std::string_view each) { return rest.starts_with(each); });
    if (word == std::end(kWords)) return true;
    rest.remove_prefix(word->size());
  }
  return false;
}

}  // namespace

std::string_view TermNotFinite(std::string_view line) {
  std::string_view bad;
  int bads = 0;
  bool others = false;
  for (size_t at = NextSign(line, 0); at < line.size();
       at = NextSign(line, at + 1)) {
    const std::string_view name = NameAtEnd(line.substr(0, at));
    if (name.empty() || !IsTerm(name)) continue;
    const std::optional<double> value = Scan(line, at + 1).Number();
    if (!value) continue;
    others |= std::isfinite(*value);
    if (std::isfinite(*value) || name == bad) continue;
    bad = name;
    ++bads;
  }
  return others && bads == 1 ? bad : "";
}

namespace {

constexpr size_t kBeforeTerms = 40;  // bytes: "loss: 2.31 (avg 2.40) "; ours

// The word at `at` is a number that is not finite.
bool IsNotFinite(std::string_view line, size_t at) {
  const char before = at > 0 ? line[at - 1] : ' ';
  if (IsNameCharacter(before) && before != '-') return false;
  const std::optional<double> value = Scan(line, at).Number();
  return value && !std::isfinite(*value);
}

// How large weights are, "weight_rms", "params/mean": no term.
bool IsOfWeights(std::string_view name) {
  static constexpr std::string_view kWhat[] = {"weight", "param", "grad",
                                               "activation", "update"};
  static constexpr std::string_view kHow[] = {"rms", "mean", "avg",
                                              "max", "min",  "abs"};
  const std::string small = LowerCase(name);
  return HasOneOf(small, kWhat) && HasOneOf(small, kHow);
}

// What was learned, as a metric says it.
bool IsMetric(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "acc",  "iou",        "map",    "f1",    "auc",  "psnr",
      "ssim", "reward",     "return", "r2",    "corr", "dice",
      "ppl",  "perplexity", "snr",    "score", "prec", "recall"};
  return HasOneOf(LowerCase(name), kWords) || IsOfWeights(name);
}

// Numbers of the machine, and those that have rules of their own.
bool IsMeasured(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "len",   "time",  "eta", "lr",  "norm", "std",  "var",  "mfu",
      "speed", "flops", "mem", "tok", "sec",  "perc", "scale"};
  return name.size() > kNameMax || HasOneOf(LowerCase(name), kWords);
}

// Where the parentheses open in which `at` stands; npos: it stands in none.
size_t OpeningBefore(std::string_view line, size_t at) {
  const size_t bracket = line.substr(0, at).find_last_of("([{)]}");
  const bool opens =
      bracket != std::string_view::npos &&
      std::string_view("([{").find(line[bracket]) != std::string_view::npos;
  return opens ? bracket : std::string_view::npos;
}

// The name before a list that opens there: "losses: [".
std::string_view NameOfList(std::string_view line, size_t open) {
  const size_t sign = line.substr(0, open).find_last_not_of(" :=");
  return sign == std::string_view::npos ? ""
                                        : NameAtEnd(line.substr(0, sign + 1));
}

bool IsListOfLosses(std::string_view name) {
  return LowerCase(name).ends_with("losses");
}

// "grad_norm={'0_default': nan}".
bool IsOfMetric(std::string_view line, size_t open) {
  const std::string_view name = NameOfList(line, open);
  return IsMetric(name) || IsMeasured(name);
}

bool IsOfLoss(std::string_view line, size_t open) {
  const size_t from = open > kBeforeTerms ? open - kBeforeTerms : 0;
  return line.substr(from, open - from).find("oss") != std::string_view::npos;
}

// "best_loss: inf" is what nothing was better than yet.
bool IsRecord(std::string_view name) {
  static constexpr std::string_view kWords[] = {"best", "min",  "max",
                                                "low",  "prev", "last"};
  return HasOneOf(name, kWords);
}

// Returns "ctc loss", which ends `before`, where that is a term; else nothing.
std::string_view TermInWords(std::string_view before, size_t loss) {
  const std::string_view part = before.substr(0, before.size() - loss);
  if (!MakesPart(part)) return {};
  return before.substr(TrimBlanks(part).find_last_of(" ,|") + 1);
}

}  // namespace

OddPart PartBesideLoss(std::string_view line) {
  std::string_view other;
  std::string_view metric;
  for (const std::string_view word : {"nan", "NaN", "inf", "Inf"}) {
    for (size_t at = FindWord(line, word); at != std::string_view::npos;
         at = FindWord(line, word, at + word.size())) {
      if (!IsNotFinite(line, at)) continue;
      std::string_view before = line.substr(0, at);
      while (!before.empty() &&
             std::string_view(" :=+-'\"").find(before.back()) !=
                 std::string_view::npos) {
        before.remove_suffix(1);
      }
      const size_t open = OpeningBefore(line, at);
      std::string_view name = NameAtEnd(before);
      if (LowerCase(name) == "loss") {
        const std::string_view term = TermInWords(before, name.size());
        if (!term.empty()) return {term};
        // A whole that was not taken for one, as of Lightning's bar.
        if (name == "loss") continue;
      }
      // One of a list.
      if (before.ends_with(',') || before.ends_with('[')) {
        name = open == line.npos ? "" : NameOfList(line, open);
      }
      if (name.empty() || IsDigit(name[0]) || IsRecord(name)) continue;
      if (IsTerm(name) || IsListOfLosses(name)) return {name};
      if (IsMeasured(name) || IsEvaluation(name)) continue;
      if (open != line.npos && IsOfMetric(line, open)) continue;
      if (IsMetric(name)) {
        if (metric.empty() && Lower(word[0]) == 'n') metric = name;
        continue;
      }
      if (open != line.npos && IsOfLoss(line, open)) return {name};
      const std::string_view sign =
          line.substr(before.size(), at - before.size());
      if (other.empty() && sign.find_first_of(":=") != sign.npos) other = name;
    }
  }
  return other.empty() ? OddPart{metric, !metric.empty()} : OddPart{other};
}

}  // namespace nanwatch
