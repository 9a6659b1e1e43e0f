// That a batch's loss was not finite, in the words of a program that goes on
// without it. Of any program, beside its own lines.
//
// WARNING: received a nan loss, setting loss value to 0
// loss is NaN, skipping this batch
// Non-finite loss encountered: ignoring batch 17
// WARNING:root:fape loss is NaN. Skipping...
// WARNING:root:loss is NaN. Returning 0 loss...
// WARNING: loss (=nan) is not correct

#include <string>
#include <string_view>

#include "logs/broken_off.h"
#include "logs/find_word.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kLineMax = 160;  // bytes; a sentence, and a clock before it

constexpr std::string_view kMarks[] = {"etting ",
                                       "kipping",
                                       "kipped",
                                       "gnoring",
                                       "gnored",
                                       "iscard",
                                       "eplac",
                                       "ropping",
                                       "eturning 0",
                                       "eturning zero",
                                       "=nan) is not correct"};
// Settings, summaries, and what speaks of gradients or of no training.
constexpr std::string_view kOthers[] = {"if ",    "will ",  "would ", "grad",
                                        "scale",  "when ",  "total",  "so far",
                                        "checkp", "warmup", "=true",  "=false"};

// Returns "fape" of a message that begins with "fape loss is", "fape_loss" of
// one with that: a term of the loss. Empty: the whole loss is spoken of.
std::string_view TermOf(std::string_view line) {
  constexpr std::string_view kWhole[] = {
      "the",     "this",     "a",        "total",      "train",    "training",
      "batch",   "step",     "current",  "overall",    "mean",     "average",
      "avg",     "nan",      "inf",      "infinite",   "invalid",  "bad",
      "got",     "found",    "detected", "non-finite", "received", "nonfinite",
      "warning", "skipping", "because",  "since",      "model",    "final"};
  const size_t end = line.find("loss is ");
  if (end == line.npos) return "";
  std::string_view name = NameAtEnd(line.substr(0, end + 4));
  if (name == "loss") name = NameAtEnd(line.substr(0, end));
  const bool plain = name.empty() || !IsLetter(name[0]);
  if (plain || IsOneOf(LowerCase(name), kWhole)) return "";
  const std::string_view before = TrimBlanks(
      line.substr(0, static_cast<size_t>(name.data() - line.data())));
  const bool begins = before.empty() || before.ends_with(':') ||
                      before.ends_with(']') || before.ends_with('-');
  return begins && name != "train_loss" ? name : "";
}

void Read(std::string_view line, FactList* facts) {
  if (line.size() > kLineMax || !HasOneOf(line, kMarks)) return;
  if (NotFiniteInWords(line) != StepField::kLoss || IsEvaluation(line)) return;
  const std::string low = LowerCase(line);
  if (HasOneOf(low, kOthers) || low.find("no nan") != low.npos) return;
  AddFact(LogFact::Kind::kLostLoss, 0, facts).text = TermOf(line);
}

}  // namespace

const LogFormat kLostLosses = {
    .name = "lost_losses",
    .title = "a loss that is not finite and left out, in any program's words",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .marks = kMarks,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
