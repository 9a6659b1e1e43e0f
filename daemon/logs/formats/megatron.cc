// Megatron-LM and its relatives (Megatron-DeepSpeed, MindSpeed-LLM,
// AscendSpeed, BigScience, gpt-neox): fields between bars. What they leave out
// or print wrong is told in LogFact's own terms; the assembler knows what to
// make of it.
//
//  iteration   10/  200 | consumed samples: 160 | lm loss: 1.1E+01 |
//  loss scale: 262144.0 | grad norm: 25.472 | number of skipped iterations: 5 |

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/formats/scaled_norm.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

bool EndsWithLoss(std::string_view key) {
  return key.ends_with("loss") && !key.starts_with("load_balancing") &&
         !key.starts_with("z_") && !key.starts_with("mtp");
}

// The field of a step that `key` names.
std::optional<StepField> FieldOf(std::string_view key) {
  if (key == "lm loss" || key == "lm-loss" || key == "lm_loss") {
    return StepField::kLoss;
  }
  if (key == "grad norm") return StepField::kGradNorm;
  if (key == "params norm") return StepField::kParamNorm;
  if (key == "learning rate") return StepField::kLearningRate;
  if (key == "consumed samples") return StepField::kConsumedSamples;
  return std::nullopt;
}

// False: no field of Megatron's.
bool ReadField(std::string_view key, std::string_view text, LogFact* fact) {
  if (key == "loss scale") {
    SetScale(text, ScaleText::kRounded, fact);
    return true;
  }
  const std::optional<double> value = WholeNumber(text);
  if (!value) return false;
  if (const std::optional<StepField> field = FieldOf(key)) {
    fact->Set(*field, *value);
  } else if (EndsWithLoss(key) && !fact->has(StepField::kLoss)) {
    fact->Set(StepField::kLoss, *value);
  } else if (key == "number of skipped iterations") {
    fact->skipped_since = AsCount(value);
  } else if (key == "number of nan iterations") {
    fact->nan_since = AsCount(value);
  } else {
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

// Behind "iteration": `  10/  200 | key: value | ... |`.
void ReadStepLine(std::string_view line, size_t at, FactList* facts) {
  Scan scan(line, at);
  const std::optional<int64_t> step = ReadStep(&scan);
  if (!step) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  int fields = 0;
  bool torn = false;  // a loss is there, but another message stands in it
  while (!scan.done()) {
    const size_t before = scan.at();
    const std::string_view field = scan.Until('|');
    // A field without its closing bar may be torn.
    if (line[scan.at() - 1] != '|' || scan.at() == before) break;
    if (BeginsAnew(line, field)) break;
    const size_t colon = field.rfind(": ");
    if (colon == std::string_view::npos) continue;
    const std::string_view key = TrimBlanks(field.substr(0, colon));
    const std::string_view text = field.substr(colon + 2);
    if (ReadField(key, text, &fact)) {
      ++fields;
    } else if (!WholeNumber(text)) {
      torn = torn || field.find("loss") != std::string_view::npos;
    }
  }
  if (fields < 2) return;  // another program's, or torn
  // The counter stands behind the loss: a line without it was cut.
  fact.loss_left_out =
      !torn && !fact.has(StepField::kLoss) && fact.skipped_since;
  facts->push_back(fact);
}

// `  initial_loss_scale .............. 4294967296` of the dump of arguments.
void ReadArgument(std::string_view line, FactList* facts) {
  Scan scan(line);
  scan.SkipBlanks();
  const std::string_view key = scan.Until(' ');
  scan.SkipBlanks();
  if (!scan.Skip("...")) return;
  while (scan.Skip(".")) {
  }
  const std::string_view text = TrimBlanks(scan.rest());
  const std::optional<double> number = WholeNumber(text);
  if (key == "bf16" || key == "fp16") {
    if (text != "True") return;
    AddSetting(LogSetting::kPrecision, 0, 0, facts);
    facts->back().text = key;
  } else if (!number) {
    return;
  } else if (key == "loss_scale") {
    AddSetting(LogSetting::kFixedScale, *number, 0, facts);
  } else if (key == "initial_loss_scale") {
    AddSetting(LogSetting::kInitScale, *number, 0, facts);
  } else if (key == "min_loss_scale" || key == "min_scale") {
    AddSetting(LogSetting::kMinScale, *number, 0, facts);
  } else if (key == "loss_scale_window") {
    AddSetting(LogSetting::kGrowthInterval, *number, 0, facts);
  } else if (key == "hysteresis") {
    AddSetting(LogSetting::kHysteresis, *number, 0, facts);
  } else if (key == "clip_grad") {
    AddSetting(LogSetting::kClipNorm, *number, 0, facts);
  } else if (key == "padded_vocab_size") {
    AddSetting(LogSetting::kVocabulary, *number, 0, facts);
  }
}

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
      ReadArgument(line, facts);
      return;
    }
    const size_t first = facts->size();
    Scan scan(line);
    while (scan.To("iteration")) ReadStepLine(line, scan.at(), facts);
    for (size_t i = first; i < facts->size(); ++i) CorrectNorm(&(*facts)[i]);
  }

 private:
  // Norms show three decimals: from here on they have five digits at least.
  static constexpr double kManyDigits = 100;
  static constexpr int kTooOften = 4;  // a small one again, lines in a row

  // Under DeepSpeed the norm is 0, or the one of before, where the step was
  // skipped; and some versions print it multiplied by the scale.
  void CorrectNorm(LogFact* fact) {
    if (!fact->has(StepField::kGradNorm)) return;
    const double norm = (*fact)[StepField::kGradNorm];
    std::optional<double> scale;
    if (fact->has(StepField::kLossScale) && !fact->scale_at_most) {
      scale = (*fact)[StepField::kLossScale];
    }
    const bool stale = norm == last_norm_ && norm > 0;
    again_ = stale ? again_ + 1 : 0;
    // Zeros alone are told: such a run does not collect its norm.
    const bool skipped = norm == 0 && last_norm_ > 0;
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

  ScaledNorm unit_;
  double last_norm_ = 0;  // as printed; 0: none yet
  int again_ = 0;         // lines in a row that repeat it
};

constexpr std::string_view kMarks[] = {"iteration ", " .....",
                                       " iterations in a row due to"};

}  // namespace

const LogFormat kMegatron = {
    .name = "megatron",
    .title = "Megatron-LM, Megatron-DeepSpeed, MindSpeed-LLM, gpt-neox",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = true,
    .skips_take_steps = true,
    .make = Fresh<MegatronReader>,
};

}  // namespace nanwatch
