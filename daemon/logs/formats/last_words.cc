// What programs say when they end: over a number that is not finite, most of
// them before a line shows it, or by an error. Of any program, beside its own
// lines.
//
// Loss is nan, stopping training
// ValueError: Loss is NaN at step 300, aborting
// torch.cuda.OutOfMemoryError: CUDA out of memory.
// FloatingPointError: Loss became infinite or NaN at iteration=2001!
// loss is exploding, aborting.
// AssertionError: Rank 2: found NaN in local forward loss calculation.
//
// And when they go on from a checkpoint.
//
// [ckpt] found checkpoint, resuming training
// => resumed at step 600
// => loaded checkpoint (iteration 260)
// Resuming from checkpoint out/checkpoint-29000

#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "logs/broken_off.h"
#include "logs/formats/formats.h"
#include "logs/one_of.h"
#include "logs/scan.h"

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
    {"non-finite loss, ending training"},             // YOLOv5
    {"found NaN in local forward loss"},              // Megatron-Core
    {"found NaN in local grad norm", kGradients},     //
    {"found Inf in local grad norm", kGradients},     //
    {"gradients are Nan/Inf", kGradients},            // fairseq
    {"Minimum loss scale reached: ", kGradients},     // flashlight
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
    {"what():  Encountered NaN."},                           // fastText
};

// The message around the words, without what a launcher or a logger put before
// an exception's name.
std::string_view Message(std::string_view line, size_t at) {
  const size_t error = line.substr(0, at).rfind("Error: ");
  if (error == std::string_view::npos) return line.substr(at);
  const size_t name = line.substr(0, error).find_last_of(" .");
  return line.substr(name == std::string_view::npos ? 0 : name + 1);
}

// The step that the words name, "at iteration=2001!".
std::optional<int64_t> StepIn(std::string_view words) {
  for (const std::string_view name : {"step", "iteration", "iter"}) {
    const size_t at = words.rfind(name);
    if (at == std::string_view::npos) continue;
    Scan scan(words, at + name.size());
    while (scan.Skip(" ") || scan.Skip("=") || scan.Skip(":")) {
    }
    if (!IsDigit(scan.peek())) continue;
    return scan.Integer();
  }
  return std::nullopt;
}

void TellStopped(std::string_view words, StepField of, bool infinite, size_t at,
                 FactList* facts) {
  LogFact& fact = AddFact(LogFact::Kind::kStopped, at, facts);
  fact.text = words;
  fact.step = StepIn(words);
  fact.Set(of, infinite ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN());
}

// "loss is exploding, aborting."
void TellGrown(std::string_view words, FactList* facts) {
  LogFact& fact = AddFact(LogFact::Kind::kStopped, 0, facts);
  fact.text = words;
  fact.step = StepIn(words);
  fact.Set(StepField::kLoss, 0);
}

// "Loss is NaN at step 300, aborting.": of what it gives up over, and that it
// does.
constexpr std::string_view kEnds[] = {"stopping",    "Stopping",   "aborting",
                                      "Aborting",    "exiting",    "Exiting",
                                      "terminating", "Terminating"};

void Read(std::string_view line, FactList* facts) {
  if (IsTracebackSource(line)) return;
  for (const Words& each : kWords) {
    const size_t at = line.find(each.words);
    if (at == std::string_view::npos) continue;
    const bool infinite = each.words.find(" inf,") != std::string_view::npos;
    TellStopped(Message(line, at), each.of, infinite, at, facts);
    return;
  }
  const BrokenOff end = ReadBrokenOff(line);
  const bool exception = end.kind == ProgramEnd::Kind::kException;
  // A callback that speaks of itself is not the program.
  const bool early = line.find("arly stopping") != std::string_view::npos ||
                     line.find("topping early") != std::string_view::npos;
  const bool ends = !early && HasOneOf(line, kEnds);
  const std::string_view said = exception ? end.message : ends ? line : "";
  const std::string_view words = line.substr(exception ? end.at : 0);
  if (const auto over = NotFiniteInWords(said)) {
    TellStopped(words, *over, false, 0, facts);
  } else if (LossGrewInWords(said)) {
    TellGrown(words, facts);
  } else if (end.kind != ProgramEnd::Kind::kUnknown) {
    AddFact(LogFact::Kind::kBroke, end.at, facts).text = line.substr(end.at);
  }
}

constexpr std::string_view kEndMarks[] = {
    "Error",     "ERROR",  "Exception", "EXCEPTION",
    "Interrupt", "Killed", "Watchdog",  "core dumped",
    "what():",   "-kill",  "_kill",     "DUE TO "};

constexpr auto kMarks = [] {
  std::array<std::string_view,
             std::size(kWords) + std::size(kEnds) + std::size(kEndMarks)>
      marks;
  size_t i = 0;
  for (const Words& each : kWords) marks[i++] = each.words;
  for (const std::string_view each : kEnds) marks[i++] = each;
  for (const std::string_view each : kEndMarks) marks[i++] = each;
  return marks;
}();

constexpr std::string_view kResumedMarks[] = {
    "esuming ",         "esumed ",     "oading checkpoint",
    "oaded checkpoint", "oading best", "estored "};

// Weights may be loaded without what else the training was.
void ReadResumed(std::string_view line, FactList* facts) {
  if (!HasOneOf(line, kResumedMarks)) return;
  const size_t at = line.find("esum");
  AddFact(LogFact::Kind::kResumed, at, facts).text =
      at == line.npos ? "trained" : "resumed";
}

}  // namespace

const LogFormat kLastWords = {
    .name = "last_words",
    .title =
        "what any program says when it ends over NaN, infinity or an error",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .marks = kMarks,
    .make = Stateless<Read>,
};

const LogFormat kResumedWords = {
    .name = "resumed_words",
    .title = "what any program says when it goes on from a checkpoint",
    .part = LogFormat::Part::kScaler,
    .unnamed = true,
    .within_lines = true,
    .marks = kResumedMarks,
    .make = Stateless<ReadResumed>,
};

}  // namespace nanwatch
