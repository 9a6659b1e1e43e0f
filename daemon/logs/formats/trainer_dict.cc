#include "logs/formats/trainer_dict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "logs/dict_scan.h"
#include "logs/named_number.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Losses have four decimals: from such a one no loss rounds to 0 all at once,
// and so many zeros in a row, or at the start, are no batch without labels.
constexpr double kFarFromZero = 0.1;
constexpr int kZeros = 3;

constexpr NamedField kKeys[] = {
    {"loss", StepField::kLoss},
    {"loss/policy_avg", StepField::kLoss},  // TRL's PPO
    {"grad_norm", StepField::kGradNorm},
    {"learning_rate", StepField::kLearningRate},
    {"lr", StepField::kLearningRate},
};

// What launchers put before a line: "3:", "worker-3:", "10.0.0.7:".
bool IsOfLauncher(std::string_view title) {
  title = TrimBlanks(title);
  const bool number = !title.empty() && IsDigit(title.back());
  const bool digits =
      title.find_first_not_of("0123456789") == std::string_view::npos;
  return number && title.find(' ') == std::string_view::npos &&
         (digits || title.find_first_of("-.") != std::string_view::npos);
}

// Whether a bar that begins with the percentage at `at` is the training's: it
// has no title, or (ms-swift) "Train:".
bool IsUntitled(std::string_view text, size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  if (at == 0 || text[at - 1] != ':') return true;
  return text.substr(0, at).ends_with("Train:") ||
         IsOfLauncher(text.substr(0, at - 1));
}

}  // namespace

// ` 12%|#2        | 12/100 [00:10<01:15,  1.17it/s]`, the last of `text`.
void TrainerDictReader::ReadBars(std::string_view text) {
  size_t at = text.rfind("%|");
  while (at != std::string_view::npos) {
    const size_t begin = text.substr(0, at).find_last_not_of("0123456789") + 1;
    Scan scan(text, at + 2);
    if (begin < at && scan.To("| ") && IsUntitled(text, begin)) {
      const std::optional<Ratio> bar = ReadRatio(&scan);
      const bool train = total_ == 0 || (bar && bar->whole == total_);
      // One that is drawn once, complete, is of what was before the training.
      const bool over =
          bar && bar->part == bar->whole && total_ == 0 && drawn_ != bar->whole;
      if (bar) drawn_ = bar->whole;
      // An evaluation's bar does not hide the training's.
      if (bar && !over && scan.Skip(" [") && (train || bar_total_ != total_)) {
        bar_step_ = bar->part;
        bar_total_ = bar->whole;
        return;
      }
    }
    if (at == 0) return;
    at = text.rfind("%|", at - 1);
  }
}

// A dict of a training's log step, whole.
bool TrainerDictReader::ReadDict(std::string_view text, Entry* entry) const {
  DictScan dict(text);
  bool placed = false;
  std::optional<int64_t> step;
  while (dict.Next()) {
    const std::string_view key = dict.key();
    entry->own |= std::any_of(
        program_.keys.begin(), program_.keys.end(),
        [key](std::string_view begin) { return key.starts_with(begin); });
    if (key == "global_step/max_steps") {
      Scan scan(dict.value());
      const std::optional<Ratio> step = ReadRatio(&scan);
      if (step) entry->fact.step = step->part;
      continue;
    }
    const std::optional<double> value = dict.Number();
    if (!value) continue;
    if (key == "batch") return false;  // the Trainer counts none
    if (key == "step") step = dict.Count();
    if (key == "epoch") {
      entry->epoch = *value;
      placed = true;
    }
    if (key == "reward") entry->fact.score = *value;  // TRL's mean
    SetNamed(kKeys, key, *value, &entry->fact);
  }
  LogFact& fact = entry->fact;
  // Other programs print dicts, too, which name their step and no epoch, or no
  // learning rate.
  if (!dict.whole() || !placed || !fact.has(StepField::kLoss)) return false;
  if (step && !fact.has(StepField::kLearningRate)) return false;
  if (!fact.step) fact.step = step;
  // The loss of a NaN step is left out of the mean: of NaN alone it is 0.
  if (fact[StepField::kLoss] == 0 && fact.has(StepField::kGradNorm) &&
      std::isnan(fact[StepField::kGradNorm])) {
    fact.Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
  }
  return true;
}

// The same log step, once by the progress bar and once by a logger.
bool TrainerDictReader::IsCopy(const Entry& entry) const {
  const double loss = entry.fact[StepField::kLoss];
  const bool same = loss == loss_ || (std::isnan(loss) && std::isnan(loss_));
  return step_ > 0 && entry.logger != logger_ && same &&
         std::abs(entry.epoch.value_or(epoch_) - epoch_) < 0.011;
}

int64_t TrainerDictReader::NextStep(const Entry& entry, bool* counted) {
  const double epoch = entry.epoch.value_or(epoch_);
  const bool again = step_ > 0 && epoch < epoch_;  // from a checkpoint
  if (bar_step_ > 0 && (total_ == 0 || bar_total_ == total_ || again)) {
    total_ = bar_total_;
    // Where other lines go over the bar it is one step behind. Trainings log
    // at multiples of 5 and 10, if not at each step.
    const int64_t next = bar_step_ + 1;
    const int64_t since = again ? 0 : step_;
    if (next % 5 == 0 && next - since >= 5) return next;
    if (again || bar_step_ > step_) return bar_step_;
    return step_ + 1;  // the bar was not drawn anew
  }
  *counted = true;
  // Epochs of two digits stand still and jump: only a real way back counts.
  if (again && epoch_ - epoch > 0.02) {
    const double part = epoch_ > 0 ? epoch / epoch_ : 0;
    return std::max<int64_t>(
        1, std::llround(static_cast<double>(step_) * std::max(0.0, part)));
  }
  return step_ + stride_;
}

// The Trainer leaves NaN out of the mean that it prints; of NaN alone it is 0,
// and old versions print no norm that would show it.
bool TrainerDictReader::HidesNan(const LogFact& fact) {
  const double loss = fact[StepField::kLoss];
  zeros_ = loss == 0 ? zeros_ + 1 : 0;
  if (loss != 0) last_loss_ = loss;
  const bool none_before = last_loss_ == 0;
  return zeros_ >= kZeros && (none_before || last_loss_ >= kFarFromZero) &&
         !fact.has(StepField::kGradNorm) && !program_.loss_may_be_zero;
}

void TrainerDictReader::Finish(Entry* entry, FactList* facts) {
  if (IsCopy(*entry)) return;
  LogFact& fact = entry->fact;
  if (!fact.step) fact.step = NextStep(*entry, &fact.step_counted);
  if (*fact.step > step_ && step_ > 0) stride_ = *fact.step - step_;
  step_ = *fact.step;
  epoch_ = entry->epoch.value_or(epoch_);
  loss_ = fact[StepField::kLoss];
  if (HidesNan(fact)) {
    fact.Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
    fact.text = kPrintedAsZero;
  }
  logger_ = entry->logger;
  bar_step_ = 0;
  bar_total_ = 0;
  facts->push_back(fact);
}

void TrainerDictReader::Read(std::string_view line, FactList* facts) {
  if (!named_) named_ = HasOneOf(line, program_.words);
  const bool any = program_.keys.empty() && program_.words.empty();
  size_t done = 0;
  size_t at = line.find("{'");
  while (at != std::string_view::npos) {
    ReadBars(line.substr(done, at - done));
    Entry entry;
    entry.fact.at = static_cast<uint32_t>(at);
    entry.logger = at >= 3 && line.substr(at - 3, 3) == ">> ";
    if (ReadDict(line.substr(at), &entry) && (any || named_ || entry.own)) {
      Finish(&entry, facts);
    }
    done = at + 2;
    at = line.find("{'", done);
  }
  ReadBars(line.substr(done));
}

}  // namespace nanwatch
