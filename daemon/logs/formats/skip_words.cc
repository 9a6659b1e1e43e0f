// An update that is left out over gradients that are not finite, in the words
// of programs of their own. Those of known libraries have readers of theirs.
//
//  WARNING: non-finite gradients detected, skipping update (3 so far)
//  Skipping optimizer step: inf/nan in grads
//  GradScaler: found inf in gradients, new scale 32768
//  AMP: Scale factor decreased. New value:<TAB>0.0625  (flashlight)

#include <optional>
#include <string>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/one_of.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kLineMax = 200;  // bytes; a sentence, and a clock before it

constexpr std::string_view kSkips[] = {"skip", "not updat", "discard",
                                       "found inf", "found_inf"};
constexpr std::string_view kGradients[] = {"grad", "optimizer", "amp]"};
constexpr std::string_view kBad[] = {"overflow", "non-finite", "nonfinite",
                                     "not finite", "infinite"};
constexpr std::string_view kBadWords[] = {"inf", "infs", "nan", "nans"};
// Of libraries' own words, of settings and of what is no update.
constexpr std::string_view kOthers[] = {"gradient overflow",
                                        "overflow!",
                                        "overflow detected. skipping",
                                        "found overflow",
                                        "skipped batch",
                                        "loss scale",
                                        "loss_scale",
                                        "if ",
                                        "will ",
                                        "skipping updating the model",
                                        "=true",
                                        "=false",
                                        "evaluat",
                                        "validat",
                                        "checkpoint"};

// One of kBadWords stands there, and is no part of "info".
bool HasBadWord(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!IsLower(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsLower(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (IsOneOf(word, kBadWords)) return true;
    at = end;
  }
  return false;
}

// "skipped: 3", "skip=0": a column of a step line.
bool HasColumn(std::string_view text) {
  for (size_t at = text.find("skip"); at != text.npos;
       at = text.find("skip", at + 1)) {
    while (at < text.size() && (IsLower(text[at]) || text[at] == '_')) ++at;
    const size_t value = text.find_first_not_of(" :=", at);
    if (value != text.npos && value > at && IsDigit(text[value])) return true;
  }
  return false;
}

// "no inf found", "0 inf": says that there is none.
bool Denies(std::string_view text) {
  static constexpr std::string_view kWords[] = {"no inf", "no nan", "without"};
  return HasOneOf(text, kWords);
}

// Flashlight's two sentences of its scaler. False: the line is neither.
bool ReadFactor(std::string_view line, FactList* facts) {
  Scan scan(line);
  if (!scan.To("AMP: Scale factor ")) return false;
  const size_t at = scan.at();
  const bool falls = scan.Skip("decreased");
  if (!falls && !scan.Skip("doubled")) return false;
  if (!scan.Skip(". New value:")) return false;
  const std::optional<Scan::Printed> scale = scan.PrintedNumber();
  if (!scale) return false;
  LogFact& fact = AddFact(
      falls ? LogFact::Kind::kOverflow : LogFact::Kind::kScale, at, facts);
  if (falls) fact.applied = false;
  SetScale(scale->text, ScaleText::kRounded, &fact);
  return true;
}

void Read(std::string_view line, FactList* facts) {
  if (line.size() > kLineMax || ReadFactor(line, facts)) return;
  const std::string low = LowerCase(line);
  if (const auto scale = ScaleOfSkip(line)) {
    // Beside its step it is a step line of any program.
    bool in_bar = false;
    if (StepInWords(line, &in_bar)) return;
    LogFact& fact = AddFact(LogFact::Kind::kOverflow, 0, facts);
    fact.applied = false;
    return SetScale(scale->text, ScaleText::kRounded, &fact);
  }
  if (!HasOneOf(low, kSkips) || !HasOneOf(low, kGradients) ||
      (!HasOneOf(low, kBad) && !HasBadWord(low)) || HasOneOf(low, kOthers) ||
      HasColumn(low) || Denies(low)) {
    return;
  }
  // A step line that holds such words is its own program's.
  if (low.find("loss") != std::string::npos) return;
  LogFact& fact = AddFact(LogFact::Kind::kOverflow, 0, facts);
  fact.applied = false;
  Scan scan(line);
  if (!scan.To("scale")) return;
  while (scan.Skip(' ') || scan.Skip(':') || scan.Skip('=') ||
         scan.Skip("to ") || scan.Skip("now ") || scan.Skip("is ")) {
  }
  const std::optional<Scan::Printed> scale = scan.PrintedNumber();
  if (scale) SetScale(scale->text, ScaleText::kRounded, &fact);
}

constexpr std::string_view kMarks[] = {
    "kipping", "kipped",   "kip ",     "ot updat",
    "iscard",  "ound inf", "ound_inf", "AMP: Scale factor "};

}  // namespace

const LogFormat kSkipWords = {
    .name = "skip_words",
    .title = "updates that are left out over their gradients, in any words",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
