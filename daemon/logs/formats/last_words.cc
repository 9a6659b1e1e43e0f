// What programs say when they give up over a number that is not finite, most of
// them before a line shows it: of any program, beside its own lines.
//
// Loss is nan, stopping training
// FloatingPointError: Loss became infinite or NaN at iteration=2001!
// AssertionError: Rank 2: found NaN in local forward loss calculation.

#include <array>
#include <iterator>
#include <limits>
#include <string_view>

#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

struct Words {
  std::string_view words;
  StepField of = StepField::kLoss;  // what is not finite
};

constexpr StepField kGradients = StepField::kGradNorm;
constexpr Words kWords[] = {
    {"Loss is nan, stopping training"},  // DeiT, MAE, BEiT, torchvision
    {"Loss is inf, stopping training"},
    {"Loss became infinite or NaN at"},               // Detectron2
    {"loss become infinite or NaN!"},                 // MMDetection
    {"Model diverged with loss = NaN"},               // tf.estimator
    {"NaN loss during training."},                    // its exception
    {"Invalid loss, terminating training"},           // Keras
    {"found NaN in local forward loss"},              // Megatron-Core
    {"found NaN in local grad norm", kGradients},     //
    {"found Inf in local grad norm", kGradients},     //
    {"gradients are Nan/Inf", kGradients},            // fairseq
    {"The loss returned in `training_step` is nan"},  // Lightning
    {"The loss returned in `training_step` is inf"},
    {"Detected nan and/or inf values in `"},
    {"is not finite. Previous best value was"},
    {"returned nan values in its", kGradients},  // autograd's anomalies
    {"is non-finite, so it cannot be clipped", kGradients},  // clip_grad_norm_
    {"Train loss contains a NaN"},                           // Composer
    {"nan loss encountered"},                                // OLMo
    {"loss is NAN or INF, training process cannot"},         // MindSpore
    {"invalid value (nan) encountered in"},                  // jax_debug_nans
};

// The message around the words, without what a launcher or a logger put before
// an exception's name.
std::string_view Message(std::string_view line, size_t at) {
  const size_t error = line.substr(0, at).rfind("Error: ");
  if (error == std::string_view::npos) return line.substr(at);
  const size_t name = line.substr(0, error).find_last_of(" .");
  return line.substr(name == std::string_view::npos ? 0 : name + 1);
}

void Read(std::string_view line, FactList* facts) {
  for (const Words& each : kWords) {
    const size_t at = line.find(each.words);
    if (at == std::string_view::npos) continue;
    LogFact& fact = AddFact(LogFact::Kind::kStopped, at, facts);
    fact.text = Message(line, at);
    const bool infinite = each.words.find(" inf,") != std::string_view::npos;
    fact.Set(each.of, infinite ? std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN());
    return;
  }
}

constexpr auto kMarks = [] {
  std::array<std::string_view, std::size(kWords)> marks;
  for (size_t i = 0; i < marks.size(); ++i) marks[i] = kWords[i].words;
  return marks;
}();

}  // namespace

const LogFormat kLastWords = {
    .name = "last_words",
    .title = "what any program says when it ends over NaN or infinity",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .marks = kMarks,
    .tells_overflows = false,
    .skips_take_steps = true,
    .make = Stateless<Read>,
};

}  // namespace nanwatch
