#include "logs/bare_step.h"

#include <algorithm>
#include <utility>

#include "logs/in_words.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// More is a clock's: seconds since 1970.
constexpr int64_t kStepMax = 1'000'000'000;

// "100: loss", "100 | loss", "100, loss", "100 loss" at the line's start; no
// clock, no date, no ratio.
std::optional<int64_t> AtStart(std::string_view line) {
  Scan scan(line);
  scan.SkipBlanks();
  if (!IsDigit(scan.peek())) return std::nullopt;
  const std::optional<int64_t> number = scan.Integer();
  if (!number) return std::nullopt;
  if (scan.Skip(":") || scan.Skip(",")) {
    const char next = scan.peek();
    return next == ' ' || next == '\t' ? number : std::nullopt;
  }
  const char next = scan.peek();
  return next == ' ' || next == '\t' || next == '|' ? number : std::nullopt;
}

// "19 105 Loss=2.31": what may be an epoch and its step.
std::optional<StepPlace> PairAtStart(std::string_view line) {
  Scan scan(line);
  scan.SkipBlanks();
  if (!IsDigit(scan.peek())) return std::nullopt;
  const std::optional<int64_t> epoch = scan.Integer();
  if (!epoch || !scan.Skip(" ")) return std::nullopt;
  scan.SkipBlanks();
  if (!IsDigit(scan.peek())) return std::nullopt;
  const std::optional<int64_t> step = scan.Integer();
  if (!step || *step >= kStepMax || !scan.Skip(" ")) return std::nullopt;
  scan.SkipBlanks();
  if (!IsLetter(scan.peek())) return std::nullopt;
  return StepPlace{*step, 0, *epoch};
}

// `text` ends with a word for what is numbered and is no step: "Epoch",
// "Checkpoint ".
bool EndsWithOther(std::string_view text) {
  constexpr std::string_view kOthers[] = {"epoch", "checkpoint", "fold",
                                          "stage", "rank",       "trial"};
  text = TrimBlanks(text);
  const std::string_view word = LastWord(text);
  return text.ends_with(word) && IsOneOf(LowerCase(word), kOthers);
}

// The last "[6550] " that is no "Epoch[4] ".
std::optional<int64_t> InBrackets(std::string_view line) {
  for (size_t at = line.rfind('['); at != std::string_view::npos && at + 1 > 0;
       at = at == 0 ? line.npos : line.rfind('[', at - 1)) {
    Scan scan(line, at + 1);
    if (!IsDigit(scan.peek())) continue;
    if (EndsWithOther(line.substr(0, at))) continue;
    const std::optional<int64_t> number = scan.Integer();
    if (number && (scan.Skip("] ") || scan.Skip("]\t"))) return number;
  }
  return std::nullopt;
}

// "[6860, 9.99e-05]" at the line's end, behind no more than a title.
std::optional<int64_t> WithRate(std::string_view line) {
  if (!line.ends_with(']')) return std::nullopt;
  Scan scan(line, line.rfind('[') + 1);
  if (!IsDigit(scan.peek())) return std::nullopt;
  const std::optional<int64_t> number = scan.Integer();
  if (!number || !scan.Skip(", ")) return std::nullopt;
  const std::optional<double> rate = scan.Number();
  const bool is_rate = rate && *rate > 0 && *rate < 1;
  return is_rate && scan.rest() == "]" ? number : std::nullopt;
}

// Returns where a word for a step begins whose second letters are at `at`:
// "Step", "iteration", "global_step"; npos: none does.
size_t BeginOfStepWord(std::string_view line, size_t at) {
  constexpr std::string_view kGlobal = "global_";
  if (at == 0) return line.npos;
  const char initial = static_cast<char>(line[at - 1] | 0x20);
  const char last = line[at + 2];  // of the three letters
  if (initial != (last == 'p' ? 's' : last == 'c' ? 'b' : 'i')) {
    return line.npos;
  }
  const std::string_view before = line.substr(0, at - 1);
  return before.size() - (before.ends_with(kGlobal) ? kGlobal.size() : 0);
}

// `text` says no more than that a training is at it: "training @ ".
bool IsOfTraining(std::string_view text) {
  constexpr std::string_view kWords[] = {"train", "training", "train at",
                                         "training at"};
  const size_t end = text.find_last_not_of(" @");
  return end != text.npos &&
         IsOneOf(LowerCase(text.substr(0, end + 1)), kWords);
}

// "Epoch: 2,", before the step of an epoch's heading.
bool IsEpochBefore(std::string_view text) {
  return text.ends_with(',') && EpochAlone(text.substr(0, text.size() - 1));
}

// "Step 600 per-step time", "loop.py:698] step: 600": what a logger puts before
// its messages apart, the line begins with its step; or "training @ iter = 600"
// says no more, nor does "Epoch: 2, step=600". A batch is its step in a heading
// alone, "---- batch: 010 ----"; others are a size.
std::optional<int64_t> BeginsMessage(std::string_view line) {
  constexpr size_t kMost = 100;  // bytes; more says other things, too; ours
  if (line.size() > kMost) return std::nullopt;
  for (const std::string_view letters : {"tep", "ter", "atch"}) {
    const size_t at = line.find(letters);
    if (at == line.npos) continue;
    const size_t word = BeginOfStepWord(line, at);
    if (word == line.npos) continue;
    const std::string_view before = TrimBlanks(line.substr(0, word));
    const bool drawn = before.find_first_not_of("-=*#") == before.npos;
    const bool begins =
        letters.size() > 3 ? drawn && !before.empty()
                           : before.empty() || before.ends_with(':') ||
                                 before.ends_with(']') || before.ends_with('|');
    const bool alone =
        !begins && (IsOfTraining(before) || IsEpochBefore(before));
    if (!begins && !alone) continue;
    std::string_view rest = line.substr(at + letters.size());
    if (rest.starts_with("ation")) rest.remove_prefix(5);
    const size_t number = rest.find_first_not_of(" :=");
    if (number == 0 || number == rest.npos) continue;
    Scan scan(rest, number);
    const std::optional<int64_t> step = scan.Integer();
    const bool whole = begins || TrimBlanks(scan.rest()).empty();
    if (step && *step >= 0 && whole) return step;
  }
  return std::nullopt;
}

}  // namespace

bool BareStep::Look(std::string_view line) {
  std::optional<int64_t> step = WithRate(line);
  if (!step) step = BeginsMessage(line);
  if (step) above_ = step;
  return step.has_value();
}

// In each epoch it rises, and a size does not.
bool BareStep::CountsBatches(const StepPlace& batch) {
  const std::optional<StepPlace> before = std::exchange(batch_, batch);
  // Without an epoch one that rose goes back where the next begins.
  const bool within = before && before->epoch == batch.epoch &&
                      (batch.epoch || batch_rises_ < kBatches);
  if (within && !batch_falls_) {
    batch_falls_ = batch.step < before->step;
    batch_rises_ =
        std::min(batch_rises_ + (batch.step > before->step), kBatches);
  }
  return batch_rises_ == kBatches && !batch_falls_;
}

// One whose first number stays while the second rises: ranks take turns.
std::optional<StepPlace> BareStep::OfPair(const StepPlace& pair) {
  const std::optional<StepPlace> before = std::exchange(pair_, pair);
  const bool stays =
      before && before->epoch == pair.epoch && before->step < pair.step;
  if (!pairs_ && (!stays || rose_)) return std::nullopt;
  if (!pairs_) before_pairs_ = before->step;
  pairs_ = rose_ = true;
  return pair;
}

std::optional<StepPlace> BareStep::Find(std::string_view line) {
  if (const auto pair = PairAtStart(line)) {
    if (const auto place = OfPair(*pair)) return place;
  }
  if (looks_ > 0) {
    const auto batch = CountOfBatch(line);
    if (!batch && !batch_) --looks_;
    if (batch && CountsBatches(*batch)) {
      return StepPlace{batch->step, 0, std::nullopt};
    }
  }
  if (fell_) return std::nullopt;
  std::optional<int64_t> step = InBrackets(line);
  if (!step) step = AtStart(line);
  if (!step && above_) {
    step = above_;
    rose_ = true;  // no rank has a rate beside it
  }
  above_.reset();
  if (!step || *step >= kStepMax) return std::nullopt;
  const bool falls = *step < last_;
  const bool rises = last_ >= 0 && *step > last_;
  fell_ = falls && !epoch_ && rises_ < kRises;
  rose_ |= rises;
  if (rises_ < kRises) rises_ = rises ? rises_ + 1 : 0;
  epoch_ = false;
  last_ = *step;
  if (!rose_ || fell_) return std::nullopt;
  return StepPlace{*step, 0, std::nullopt};
}

}  // namespace nanwatch
