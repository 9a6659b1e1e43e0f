#include "logs/loss_parts.h"

#include <algorithm>

#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// What is no part: another view of the whole.
bool IsOfWhole(std::string_view name) {
  constexpr std::string_view kWords[] = {"scale",  "best",  "min",    "avg",
                                         "mean",   "total", "smooth", "ema",
                                         "weight", "coef",  "time"};
  return HasOneOf(name, kWords);
}

// A number of a loss that is none: "loss_std".
bool IsOfOther(std::string_view name) {
  constexpr std::string_view kOthers[] = {
      "delta", "diff",  "change", "std",  "var", "ratio", "prev", "last",
      "max",   "count", "grad",   "norm", "num", "time",  "scale"};
  return HasOneOf(name, kOthers);
}

// "mel_loss_before": the word stands between others. What follows it may make
// it another number.
bool HasLossWithin(std::string_view name) {
  constexpr std::string_view kMarks = "_/.-";
  for (size_t at = name.find("loss", 1); at != name.npos;
       at = name.find("loss", at + 1)) {
    const size_t end = at + 4;
    const bool word = kMarks.find(name[at - 1]) != kMarks.npos &&
                      end < name.size() &&
                      kMarks.find(name[end]) != kMarks.npos;
    if (word) return !IsOfOther(name);
  }
  return false;
}

// "l_pix", "l_percep", as BasicSR and its kin name losses of images. Other
// names that begin so are of the left: "l_hand".
bool IsShortForLoss(std::string_view name) {
  constexpr std::string_view kOf[] = {"pix",   "percep", "style", "gan",
                                      "edge",  "fft",    "freq",  "idt",
                                      "recon", "feat",   "code",  "cyc"};
  return name.starts_with("l_") && HasOneOf(name, kOf);
}

// "valid_0's box_loss", "Val box_loss".
bool IsOfEvaluation(std::string_view before, std::string_view name) {
  const auto at = static_cast<size_t>(name.data() - before.data());
  const std::string_view words = TrimBlanks(before.substr(0, at));
  const size_t parted = words.find_last_of(" \t,|;(");
  return IsEvaluation(words.substr(parted + 1));
}

}  // namespace

bool IsPartOfLoss(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  const bool named = name.ends_with("loss") || name.ends_with("Loss") ||
                     (last.starts_with("loss_") && !IsOfOther(last)) ||
                     name.starts_with("loss/") || HasLossWithin(name) ||
                     IsShortForLoss(name);
  return named && name.size() > 4 && !IsEvaluation(name) && !IsOfWhole(name);
}

// Each of its words is known: "missing_value_loss" is another one. A critic may
// be a GAN's; "q1_loss" is a critic's, and "loss_q1" a quartile's (guided
// diffusion).
bool IsOfPolicy(std::string_view name) {
  constexpr std::string_view kOf[] = {"policy", "actor", "value", "pg", "vf",
                                      "qf",     "qf1",   "qf2",   "td"};
  constexpr std::string_view kCritics[] = {"q1", "q2"};
  constexpr std::string_view kBeside[] = {"loss", "losses", "train", "trainer",
                                          "gradient"};
  const std::string low = LowerCase(name);
  bool of_policy = false;
  bool behind_loss = false;
  for (size_t begin = 0; begin <= low.size();) {
    const size_t end =
        std::min(low.find_first_of("_/.-: ,;|[]()", begin), low.size());
    const std::string_view word =
        std::string_view(low).substr(begin, end - begin);
    begin = end + 1;
    const bool of =
        IsOneOf(word, kOf) || (!behind_loss && IsOneOf(word, kCritics));
    if (!of && !IsOneOf(word, kBeside)) return false;
    of_policy |= of;
    behind_loss = word == "loss";
  }
  return of_policy;
}

// Also what a value before may end with: "nan", "0.5 s".
bool MakesPart(std::string_view before) {
  constexpr std::string_view kOfWhole[] = {
      "train",     "training",  "trn",     "tr",       "batch", "minibatch",
      "step",      "iter",      "it",      "epoch",    "avg",   "average",
      "mean",      "running",   "current", "total",    "tot",   "overall",
      "iteration", "objective", "final",   "model",    "the",   "is",
      "and",       "with",      "smooth",  "smoothed", "sum",   "full",
      "nan",       "inf",       "none",    "s",        "h",     "m",
      "mb",        "gb"};
  before = TrimBlanks(before);
  const size_t begin = before.find_last_of(" /_") + 1;
  const std::string_view word = before.substr(begin);
  const std::string low = LowerCase(word);
  return !word.empty() && IsLetter(word.front()) &&
         std::ranges::all_of(word, IsNameCharacter) &&
         !IsOneOf(low, kOfWhole) && !NamesTime(low);
}

size_t WithinLosses(std::string_view line, size_t at) {
  const std::string_view before = TrimQuotes(line.substr(0, at));
  if (!before.ends_with("losses") && !before.ends_with("Losses")) return 0;
  const size_t open = line.find_first_not_of(' ', at + 1);
  if (open == line.npos || line[open] != '{') return 0;
  const size_t close = line.find('}', open);
  return close == line.npos ? line.size() : close;
}

bool LossParts::Look(std::string_view before, std::string_view behind) {
  const std::string_view name = NameAtEnd(before);
  if (!IsPartOfLoss(name) || IsOfEvaluation(before, name)) return false;
  if (!Take(name, behind)) return false;
  of_policy_ |= IsOfPolicy(name);
  return true;
}

void LossParts::Begin() {
  parts_ = 0;
  of_policy_ = false;
  sum_ = 0;
}

// Of several names the first, until it is finite again.
void LossParts::NoteLost(std::string_view name, double value) {
  const bool bad = !std::isfinite(value);
  if (bad && bad_ == 0) bad_name_ = name;
  if (bad_name_ == name) bad_ = bad ? bad_ + 1 : 0;
}

bool LossParts::Take(std::string_view name, std::string_view behind) {
  const std::optional<double> value = ValueAt(behind);
  if (!value) return false;
  ++parts_;
  sum_ += *value;
  NoteLost(name, *value);
  return true;
}

}  // namespace nanwatch
