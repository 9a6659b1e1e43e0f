// Megatron-LM and its relatives (Megatron-DeepSpeed, MindSpeed-LLM,
// AscendSpeed, BigScience, gpt-neox): fields between bars. What they leave out
// or print wrong is told in LogFact's own terms; the assembler knows what to
// make of it.
//
//  iteration   10/  200 | consumed samples: 160 | lm loss: 1.1E+01 |
//  loss scale: 262144.0 | grad norm: 25.472 | number of skipped iterations: 5 |

#include <string_view>

#include "logs/formats/formats.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

bool EndsWithLoss(std::string_view key) {
  return key.ends_with("loss") && !key.starts_with("load_balancing") &&
         !key.starts_with("z_") && !key.starts_with("mtp");
}

void ReadField(std::string_view key, std::string_view text, LogFact* fact) {
  if (key == "loss scale") {
    SetScale(text, ScaleText::kRounded, fact);
    return;
  }
  const std::optional<double> value = WholeNumber(text);
  if (!value) return;
  if (key == "lm loss" || key == "lm-loss" || key == "lm_loss" ||
      (EndsWithLoss(key) && !fact->has(StepField::kLoss))) {
    fact->Set(StepField::kLoss, *value);
  } else if (key == "grad norm") {
    fact->Set(StepField::kGradNorm, *value);
  } else if (key == "params norm") {
    fact->Set(StepField::kParamNorm, *value);
  } else if (key == "learning rate") {
    fact->Set(StepField::kLearningRate, *value);
  } else if (key == "consumed samples") {
    fact->Set(StepField::kConsumedSamples, *value);
  } else if (key == "number of skipped iterations") {
    fact->skipped_since = static_cast<int64_t>(*value);
  } else if (key == "number of nan iterations") {
    fact->nan_since = static_cast<int64_t>(*value);
  }
}

// Behind "iteration": `  10/  200 | key: value | ... |`.
void ReadStepLine(std::string_view line, size_t at, FactList* facts) {
  Scan scan(line, at);
  const std::optional<int64_t> step = scan.Integer();
  scan.SkipBlanks();
  if (!step || !scan.Skip("/") || !scan.Integer()) return;
  scan.SkipBlanks();
  if (!scan.Skip("|")) return;
  LogFact fact;
  fact.at = static_cast<uint32_t>(at);
  fact.step = *step;
  int fields = 0;
  while (!scan.done()) {
    const size_t before = scan.at();
    const std::string_view field = scan.Until('|');
    // A field without its closing bar may be torn.
    if (line[scan.at() - 1] != '|' || scan.at() == before) break;
    const size_t colon = field.rfind(": ");
    if (colon == std::string_view::npos) continue;
    ReadField(TrimBlanks(field.substr(0, colon)), field.substr(colon + 2),
              &fact);
    ++fields;
  }
  if (fields < 2) return;
  fact.loss_left_out = !fact.has(StepField::kLoss);
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

void Read(std::string_view line, FactList* facts) {
  if (line.find('|') == std::string_view::npos) {
    ReadArgument(line, facts);
    return;
  }
  Scan scan(line);
  while (scan.To("iteration")) ReadStepLine(line, scan.at(), facts);
}

constexpr std::string_view kMarks[] = {"iteration ", " ....."};

}  // namespace

const LogFormat kMegatron = {
    .name = "megatron",
    .title = "Megatron-LM, Megatron-DeepSpeed, MindSpeed-LLM, gpt-neox",
    .part = LogFormat::Part::kProgress,
    .marks = kMarks,
    .tells_overflows = true,
    .skips_take_steps = true,
    .scaler = "",
    .make = Stateless<Read>,
};

}  // namespace nanwatch
