// Megatron-LM and its relatives (Megatron-DeepSpeed, MindSpeed-LLM,
// AscendSpeed, BigScience, gpt-neox): fields between bars. What they leave out
// or print wrong is told in LogFact's own terms; the assembler knows what to
// make of it.
//
//  iteration   10/  200 | consumed samples: 160 | lm loss: 1.1E+01 |
//  loss scale: 262144.0 | grad norm: 25.472 | number of skipped iterations: 5 |

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "logs/dumped_setting.h"
#include "logs/formats/formats.h"
#include "logs/formats/scaled_norm.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"
#include "logs/usual_line.h"

namespace nanwatch {
namespace {

bool EndsWithLoss(std::string_view key) {
  return key.ends_with("loss") && !key.starts_with("load_balancing") &&
         !key.starts_with("z_") && !key.starts_with("mtp");
}

// What a number of a step line is by its key.
enum class Key : uint8_t {
  kStep,
  kScale,
  kLoss,
  kOtherLoss,  // where none is before it
  kGradNorm,
  kParamNorm,
  kLearningRate,
  kSamples,
  kSkipped,
  kNan,
  kUnknown,
};

Key KeyOf(std::string_view key) {
  if (key == "loss scale") return Key::kScale;
  if (key == "lm loss" || key == "lm-loss" || key == "lm_loss") {
    return Key::kLoss;
  }
  if (key == "grad norm") return Key::kGradNorm;
  if (key == "params norm") return Key::kParamNorm;
  if (key == "learning rate") return Key::kLearningRate;
  if (key == "consumed samples") return Key::kSamples;
  if (key == "number of skipped iterations") return Key::kSkipped;
  if (key == "number of nan iterations") return Key::kNan;
  return EndsWithLoss(key) ? Key::kOtherLoss : Key::kUnknown;
}

// False: it is no field of Megatron's.
bool TakeField(Key key, const Scan::Printed& number, LogFact* fact) {
  switch (key) {
    case Key::kStep:
      fact->step = AsCount(number.value);
      break;
    case Key::kScale:
      SetScale(number.text, number.value, ScaleText::kRounded, fact);
      break;
    case Key::kOtherLoss:
      if (fact->has(StepField::kLoss)) return false;
      [[fallthrough]];
    case Key::kLoss:
      fact->Set(StepField::kLoss, number.value);
      break;
    case Key::kGradNorm:
      fact->Set(StepField::kGradNorm, number.value);
      break;
    case Key::kParamNorm:
      fact->Set(StepField::kParamNorm, number.value);
      break;
    case Key::kLearningRate:
      fact->Set(StepField::kLearningRate, number.value);
      break;
    case Key::kSamples:
      fact->Set(StepField::kConsumedSamples, number.value);
      break;
    case Key::kSkipped:
      fact->skipped_since = AsCount(number.value);
      break;
    case Key::kNan:
      fact->nan_since = AsCount(number.value);
      break;
    case Key::kUnknown:
      return false;
  }
  return true;
}

// `  10/  200 |` behind "iteration": the step, and where its fields begin.
std::optional<int64_t> ReadStep(Scan* scan) {
  const std::optional<int64_t> step = scan->Integer();
  scan->SkipBlanks();
  if (!step || !scan->Skip("/") || !scan->Integer()) return std::nullopt;
  scan->SkipBlanks();
  if (!scan->Skip("|")) return std::nullopt;
  return step;
}

// Another step line begins in this field: the one before it was cut there.
bool BeginsAnew(std::string_view line, std::string_view field) {
  const size_t word = field.find("iteration ");
  if (word == std::string_view::npos) return false;
  const size_t at = static_cast<size_t>(field.data() - line.data()) + word;
  Scan scan(line, at + std::string_view("iteration").size());
  return ReadStep(&scan).has_value();
}

using Usual = UsualLine<Key>;

// The counter stands behind the loss: a line without it was cut.
bool LeavesLossOut(const LogFact& fact) {
  return !fact.has(StepField::kLoss) && fact.skipped_since;
}

// Behind "iteration": `  10/  200 | key: value | ... |`. Appends the numbers
// to `*numbers`. Whether all of the line, to its end, is such fields.
bool ReadStepLine(std::string_view line, size_t at,
                  std::vector<Usual::Placed>* numbers, FactList* facts) {
  Scan scan(line, at);
  const std::optional<int64_t> step = ReadStep(&scan);
  if (!step) return false;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  numbers->push_back({Key::kStep, line[at] == ' ' ? at + 1 : at});
  int fields = 0;
  bool whole = true;
  bool torn = false;  // a loss is there, but another message stands in it
  while (!scan.done() && whole) {
    const size_t before = scan.at();
    const std::string_view field = scan.Until('|');
    // A field without its closing bar may be torn.
    whole = line[scan.at() - 1] == '|' && scan.at() > before &&
            !BeginsAnew(line, field);
    const size_t colon = field.rfind(": ");
    if (!whole || colon == std::string_view::npos) continue;
    const Key key = KeyOf(TrimBlanks(field.substr(0, colon)));
    const std::string_view text = TrimBlanks(field.substr(colon + 2));
    const std::optional<double> value = WholeNumber(text);
    if (value && TakeField(key, {*value, text}, &fact)) {
      ++fields;
      numbers->push_back({key, before + colon + 1});
    } else if (key == Key::kScale) {
      ++fields;  // a torn one is none
    } else if (!value) {
      torn = torn || field.find("loss") != std::string_view::npos;
    }
  }
  if (fields < 2) return false;  // another program's, or torn
  fact.loss_left_out = !torn && LeavesLossOut(fact);
  facts->push_back(fact);
  return whole;
}

// `  initial_loss_scale .............. 4294967296` of the dump of arguments.
constexpr DumpedSetting kArguments[] = {
    {"bf16", "precision", "bf16"},
    {"fp16", "precision", "fp16"},
    {"loss_scale", "fixed_loss_scale", ""},
    {"initial_loss_scale", "init_loss_scale", ""},
    {"min_loss_scale", "min_loss_scale", ""},
    {"min_scale", "min_loss_scale", ""},
    {"loss_scale_window", "loss_scale_window", ""},
    {"hysteresis", "hysteresis", ""},
    {"clip_grad", "clip_norm", ""},
    {"padded_vocab_size", "vocabulary", ""},
};

// gpt-neox: `Skipped 50 iterations in a row due to Overflow - Exiting
// training.`
void ReadStopped(std::string_view line, FactList* facts) {
  Scan scan(line);
  while (scan.To("Skipped ")) {
    const size_t at = scan.at() - std::string_view("Skipped ").size();
    if (!scan.Integer()) continue;  // the source line of a traceback
    if (!scan.Skip(" iterations in a row due to Overflow")) continue;
    AddFact(LogFact::Kind::kStopped, at, facts).text = line.substr(at);
    return;
  }
}

class MegatronReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    ReadStopped(line, facts);
    if (line.find('|') == std::string_view::npos) {
      ReadDumped(line, 0, kArguments, facts);
      return;
    }
    const size_t first = facts->size();
    bool whole = false;
    numbers_.clear();
    Scan scan(line);
    while (scan.To("iteration")) {
      whole |= ReadStepLine(line, scan.at(), &numbers_, facts);
    }
    for (size_t i = first; i < facts->size(); ++i) CorrectNorm(&(*facts)[i]);
    const bool alone = whole && facts->size() == first + 1;
    if (alone) usual_.Note(line, std::nullopt, numbers_);
  }

  bool ReadUsual(std::string_view line, FactList* facts) override {
    if (!usual_.Match(line, nullptr)) return false;
    LogFact& fact = facts->emplace_back();
    bool whole = true;
    usual_.ForEachValue([&](const Usual::Placed& number) {
      Scan scan(line, number.at);
      const auto printed = scan.PrintedNumber();
      scan.SkipBlanks();
      whole = whole && printed && TakeField(number.meaning, *printed, &fact) &&
              scan.peek() == (number.meaning == Key::kStep ? '/' : '|');
    });
    if (!whole) {
      facts->pop_back();
      return false;
    }
    fact.loss_left_out = LeavesLossOut(fact);
    CorrectNorm(&fact);
    return true;
  }
  void ForgetUsual() override { usual_.Forget(); }

 private:
  // Norms show three decimals: from here on they have five digits at least.
  static constexpr double kManyDigits = 100;
  static constexpr int kTooOften = 4;  // a small one again, lines in a row
  static constexpr int kZeros = 16;    // lines in a row; ours

  // Under DeepSpeed the norm is 0, or the one of before, where the step was
  // skipped; and some versions print it multiplied by the scale.
  void CorrectNorm(LogFact* fact) {
    if (!fact->has(StepField::kGradNorm)) return;
    const double norm = (*fact)[StepField::kGradNorm];
    std::optional<double> scale;
    if (fact->has(StepField::kLossScale) && !fact->scale_at_most) {
      scale = (*fact)[StepField::kLossScale];
    }
    // Of a loss that is 0 nothing was skipped: all its norms are the same.
    const bool lost =
        fact->has(StepField::kLoss) && (*fact)[StepField::kLoss] == 0;
    const bool stale = norm == last_norm_ && norm > 0 && !lost;
    again_ = stale ? again_ + 1 : 0;
    // Zeros alone are told: such a run does not collect its norm. So are many
    // in a row: nobody skips so often.
    zeros_ = norm == 0 ? zeros_ + 1 : 0;
    const bool skipped = norm == 0 && last_norm_ > 0 && zeros_ <= kZeros;
    if (norm > 0) last_norm_ = norm;
    if (skipped) {
      fact->norm_told = NormTold::kZero;
    } else if (stale) {
      fact->norm_told = norm >= kManyDigits || again_ >= kTooOften
                            ? NormTold::kOld
                            : NormTold::kAgain;
    }
    std::optional<double> unscaled;
    if (!stale && !skipped) unscaled = unit_.Unscaled(norm, scale);
    if (unscaled) {
      fact->Set(StepField::kGradNorm, *unscaled);
    } else {
      fact->Unset(StepField::kGradNorm);
    }
  }

  Usual usual_;
  std::vector<Usual::Placed> numbers_;  // of the line
  ScaledNorm unit_;
  double last_norm_ = 0;  // as printed; 0: none yet
  int zeros_ = 0;         // in a row
  int again_ = 0;         // lines in a row that repeat it
};

constexpr std::string_view kMarks[] = {"iteration ", " .....",
                                       " iterations in a row due to"};

}  // namespace

const LogFormat kMegatron = {
    .name = "megatron",
    .title = "Megatron-LM, Megatron-DeepSpeed, MindSpeed-LLM, gpt-neox",
    .marks = kMarks,
    .tells_overflows = true,
    .make = Fresh<MegatronReader>,
};

}  // namespace nanwatch
