// DeepSpeed: its loss scalers' lines (new, deepscale, fused), the counter of
// skipped steps, and what its dump of the configuration says of the scaler.
// With a program's own step lines beside it, or alone.
//
// [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but
// hysteresis is 2. Reducing hysteresis to 1
// [deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8192.0,
// reducing to 4096.0
// [Rank 0] Overflow detected. Skipping step. Attempted loss scale: 2, reducing
// to 1
// [Rank 0] step=10, skipped=3, lr=[1e-05], mom=[(0.9, 0.95)]

#include <optional>
#include <string_view>

#include "logs/dumped_setting.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Scales are printed as floats or cut to integers: "0" is anything below 1.
void SetPrinted(const MessageNumber& scale, LogFact* fact) {
  SetScale(scale.text,
           scale.integer() ? ScaleText::kInteger : ScaleText::kExact, fact);
}

// Behind "Attempted loss scale: ": `X, reducing to Y` or `X, but hysteresis is
// N`, where nothing changes. False: torn.
bool ReadAttempted(std::string_view rest, LogFact* fact) {
  const std::optional<MessageNumber> before = ReadMessageNumber(rest);
  if (!before || !before->rest.starts_with(",")) return false;
  const bool cut = before->integer() && before->value == 0;
  if (!cut) fact->scale_before = before->value;
  Scan scan(before->rest);
  if (scan.Skip(", but hysteresis is ")) {
    SetPrinted(*before, fact);
    return true;
  }
  if (!scan.Skip(", reducing to ")) return false;
  const std::optional<MessageNumber> after = ReadMessageNumber(scan.rest());
  if (!after || IsTorn(after->text, before->value / 2)) return false;
  SetPrinted(*after, fact);
  return true;
}

// Behind "OVERFLOW! Rank ".
void ReadOverflow(std::string_view line, size_t at, FactList* facts) {
  Scan scan(line, at);
  const std::optional<int64_t> rank = scan.Integer();
  if (!rank) return;
  scan.Skip(".");
  if (!scan.Skip(" Skipping step.")) return;
  LogFact fact;
  fact.kind = LogFact::Kind::kOverflow;
  fact.at = static_cast<uint32_t>(at);
  fact.rank = static_cast<int32_t>(*rank);
  scan.SkipBlanks();
  // BF16 has no scale to tell. Torn: of the first rank it is an overflow all
  // the same; of others it may be a copy.
  const bool whole =
      scan.Skip("Attempted loss scale: ") && ReadAttempted(scan.rest(), &fact);
  if (whole || *rank == 0) facts->push_back(fact);
}

// Behind "[Rank 0] step=": `10, skipped=3, lr=[1e-05], mom=...`.
void ReadCounter(std::string_view line, size_t at, FactList* facts) {
  Scan scan(line, at);
  const std::optional<int64_t> step = scan.Integer();
  if (!step || !scan.Skip(", skipped=")) return;
  const std::optional<int64_t> skipped = scan.Integer();
  if (!skipped || !scan.Skip(", lr=[")) return;
  // Step 0 is printed before the training begins.
  if (*step == 0) {
    AddFact(LogFact::Kind::kUnderstood, at, facts);
    return;
  }
  LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
  fact.beside = true;
  fact.step = *step;
  fact.skipped_total = *skipped;
  const std::optional<double> rate = scan.Number();
  if (rate && (scan.peek() == ',' || scan.peek() == ']')) {
    fact.Set(StepField::kLearningRate, *rate);
  }
}

// Of the rank that names itself before "step=" at `at`: "[Rank 3] ".
std::optional<int64_t> RankBefore(std::string_view line, size_t at) {
  constexpr std::string_view kRank = "[Rank ";
  constexpr std::string_view kEnd = "] step=";
  if (!line.substr(0, at).ends_with(kEnd)) return std::nullopt;
  const size_t begin = line.rfind(kRank, at);
  if (begin == std::string_view::npos) return std::nullopt;
  Scan scan(line, begin + kRank.size());
  const std::optional<int64_t> rank = scan.Integer();
  return scan.at() + kEnd.size() == at ? rank : std::nullopt;
}

// Behind "[config.py:1062:print]": `   fp16_enabled ......... True`.
constexpr DumpedSetting kConfig[] = {
    {"fp16_enabled", "precision", "fp16"},
    {"bfloat16_enabled", "precision", "bf16"},
    {"initial_dynamic_scale", "init_loss_scale", ""},
    {"loss_scale", "fixed_loss_scale", ""},
    {"gradient_clipping", "clip_norm", ""},
    // Of dynamic_loss_scale_args.
    {"scale_window", "loss_scale_window", ""},
    {"delayed_shift", "hysteresis", ""},
    {"min_scale", "min_loss_scale", ""},
};

class DeepSpeedReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    // Most lines are of the counter: what begins with rare letters tells them.
    if (line.find("verflow") != std::string_view::npos) {
      ReadOverflows(line, facts);
    }
    for (Scan scan(line); scan.To("OVERFLOW! Rank ");) {
      ReadOverflow(line, scan.at(), facts);
    }
    if (line.find("ynamic loss scale from ") != std::string_view::npos) {
      for (Scan scan(line); scan.To("ing dynamic loss scale from ");) {
        ReadChange(line, scan.at(), facts);
      }
    }
    for (Scan scan(line); scan.To("step=");) {
      if (IsOfOtherRank(line, scan.at())) continue;
      ReadCounter(line, scan.at(), facts);
    }
    Scan config(line);
    if (config.To("[config.py:") && config.To("]")) {
      ReadDumped(line, config.at(), kConfig, facts);
    }
    Follow(line, facts);
    Scan end(line);
    if (end.To("Current loss scale already at minimum")) {
      ReadEnd(end.at(), facts);
    }
  }

 private:
  // Where every rank prints its counter, the first one's is enough: two lines
  // of a step are those of two optimizers.
  bool IsOfOtherRank(std::string_view line, size_t at) {
    const std::optional<int64_t> rank = RankBefore(line, at);
    if (!rank) return false;
    if (!counter_rank_) counter_rank_ = rank;
    return *rank != *counter_rank_;
  }

  void ReadOverflows(std::string_view line, FactList* facts) {
    for (Scan scan(line); scan.To("verflow! Rank ");) {
      ReadOverflow(line, scan.at(), facts);
    }
    for (Scan scan(line); scan.To("Overflow detected. Skipping step. ");) {
      ReadFused(line, scan.at(), facts);
    }
  }

  // The scale that the newest overflow or raise left; a bar before an overflow
  // shows the steps that were made.
  void Follow(std::string_view line, FactList* facts) {
    for (LogFact& fact : *facts) {
      if (fact.kind == LogFact::Kind::kOverflow) {
        gave_up_ = false;
        const auto bar = BarIn(line.substr(0, fact.at));
        if (bar) fact.in_bar = bar->step.step + 1;
      }
      if (fact.kind != LogFact::Kind::kProgress &&
          fact.has(StepField::kLossScale) && !fact.scale_at_most) {
        scale_ = fact[StepField::kLossScale];
      }
    }
  }

  // An overflow at the floor: it is raised instead of printed. Every rank
  // raises, and a traceback may quote it.
  void ReadEnd(size_t at, FactList* facts) {
    constexpr std::string_view kText =
        "Current loss scale already at minimum - cannot decrease scale "
        "anymore";
    if (scale_ > 0 && !gave_up_) {
      LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
      fact.scale_before = scale_;
      fact.Set(StepField::kLossScale, scale_);
    }
    gave_up_ = true;
    AddFact(LogFact::Kind::kStopped, at, facts).text = kText;
  }

  // Rank 0's line, after those of all ranks on the change itself.
  void ReadFused(std::string_view line, size_t at, FactList* facts) {
    Scan scan(line, at);
    LogFact fact;
    fact.kind = LogFact::Kind::kOverflow;
    fact.at = static_cast<uint32_t>(at);
    if (!scan.Skip("Attempted loss scale: ")) return;
    if (!ReadAttempted(scan.rest(), &fact) && !fact.scale_before) return;
    fused_ = true;
    facts->push_back(fact);
  }

  // `Reducing dynamic loss scale from 65536 to 32768.0`, `Increasing ...`.
  void ReadChange(std::string_view line, size_t at, FactList* facts) {
    constexpr size_t kMessage = sizeof "ing dynamic loss scale from " - 1;
    const bool raised = line.substr(0, at - kMessage).ends_with("Increas");
    // Every rank prints a reduction: a log that has rank 0's own line does not
    // need them.
    if (!raised && fused_) return;
    const auto before = ReadMessageNumber(line.substr(at));
    if (!before || !before->rest.starts_with(" to ")) return;
    const auto after = ReadMessageNumber(before->rest.substr(4));
    const double next = raised ? before->value * 2 : before->value / 2;
    if (!after || IsTorn(after->text, next)) return;
    LogFact& fact = AddFact(
        raised ? LogFact::Kind::kScale : LogFact::Kind::kOverflow, at, facts);
    fact.scale_before = before->value;
    SetPrinted(*after, &fact);
  }

  std::optional<int64_t> counter_rank_;
  bool fused_ = false;    // rank 0's own lines were seen
  bool gave_up_ = false;  // and no overflow since
  double scale_ = 0;      // newest; 0: not known
};

constexpr std::string_view kMarks[] = {
    "verflow! Rank ",          "OVERFLOW! Rank ", "Overflow detected. Skipping",
    "dynamic loss scale",      ", skipped=",      "[config.py:",
    "scale already at minimum"};

}  // namespace

const LogFormat kDeepSpeed = {
    .name = "deepspeed",
    .title = "DeepSpeed (alone, or beside the program that uses it)",
    .part = LogFormat::Part::kScaler,
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<DeepSpeedReader>,
};

}  // namespace nanwatch
