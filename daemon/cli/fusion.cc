#include "cli/fusion.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/number_checks.h"
#include "cli/option.h"
#include "cli/recorded_program.h"
#include "compare/floors.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

struct FusionOptions {
  std::vector<std::string> command;  // not empty
  int32_t steps = 1;
  std::string address;  // of the daemon; empty: the usual places
  bool json = false;
};

// Of client_lib's _torch/fusing.
constexpr const char* kAsked = "NANWATCH_FUSION";
// Read by PyTorch 2.9 (torch/_dynamo/config.py, eval_frame.py) and JAX 0.7,
// MindSpore 2.7 (common/api.py, nn/cell.py).
const Variables kWithout = {{kAsked, "off"},
                            {"JAX_DISABLE_JIT", "1"},
                            {"MS_JIT", "0"},
                            {"TORCHDYNAMO_DISABLE", "1"},
                            {"TORCH_COMPILE_DISABLE", "1"}};

constexpr const char* kModel = "model";

bool Has(const ComparedRun& run, std::string_view name) {
  return std::any_of(run.ops.begin(), run.ops.end(),
                     [&](const OpName& op) { return op.name == name; });
}

bool HasWithin(const ComparedRun& run, const std::string& region) {
  const std::string prefix = region == kModel ? "" : region + ".";
  return std::any_of(run.ops.begin(), run.ops.end(), [&](const OpName& op) {
    return op.name != region && op.name.starts_with(prefix) &&
           op.type != "Parameter" && op.type != "Batch";
  });
}

std::string OtherPrecision(const RunDescription& run) {
  const auto found = run.settings.find("weights_dtype");
  return found == run.settings.end() || found->second == "fp32" ? std::string()
                                                                : found->second;
}

// Fusion makes no other weights, batches, rates or seeds.
bool IsOfFusion(const Divergence& first) {
  switch (first.kind) {
    case DivergenceClass::kOtherWeights:
    case DivergenceClass::kOtherData:
    case DivergenceClass::kOtherSeed:
    case DivergenceClass::kOtherSchedule:
      return false;
    default:
      return true;
  }
}

// Runs the program as often as it takes.
Result<Fused> Try(RecordedProgram& program, int32_t steps) {
  const Result<ComparedSide> without = program.Run("without", steps, kWithout);
  if (!without.ok()) return Error{without.error()};
  const Result<ComparedSide> with =
      program.Run("with", steps, {{kAsked, "on"}});
  if (!with.ok()) return Error{with.error()};
  Fused fused;
  fused.precision = OtherPrecision(without->run.description);
  fused.whole = Compare(without->run, with->run);
  if (fused.whole.tensors == 0) {
    return Error{
        "no tensors were recorded: the program must call "
        "nanwatch.torch.watch or nanwatch.mindspore.watch, fit with "
        "nanwatch.keras.Callback, or call nanwatch.jax.watch and, after that "
        "is imported, jax.jit; and the C library must be there. GE is not "
        "tried"};
  }
  // What is compiled as one shows neither what it makes nor its insides.
  const bool hidden = !Has(with->run, kModel) &&
                      !HasWithin(with->run, kModel) &&
                      HasWithin(without->run, kModel);
  if (!fused.whole.first && !hidden) return fused;
  // A program that does not repeat itself would be taken for a wrong kernel.
  const Result<ComparedSide> again = program.Run("again", steps, kWithout);
  if (!again.ok()) return Error{again.error()};
  if (Compare(without->run, again->run).first) {
    return Error{
        "the program does not compute the same twice, also without fusion: "
        "nanwatch repeat names what differs"};
  }
  Floors floors;
  floors.Take(without->run, again->run);
  fused.whole = Compare(without->run, with->run, &floors);
  if (!fused.whole.first && !hidden) return fused;
  if (fused.whole.first && !IsOfFusion(*fused.whole.first)) {
    return Error{fmt::format(
        "compiled, the program begins with other weights, data, rates or "
        "random numbers ({}: {}), so that kernels cannot be compared: set all "
        "seeds, or run it without dropout",
        Name(fused.whole.first->kind), Clean(fused.whole.first->op))};
  }
  fused.region = hidden ? kModel : fused.whole.first->op;
  if (HasWithin(without->run, fused.region) &&
      !HasWithin(with->run, fused.region)) {
    const Result<ComparedSide> parts =
        program.Run("parts", steps, {{kAsked, "parts:" + fused.region}});
    if (!parts.ok()) return Error{parts.error()};
    fused.parts = Compare(without->run, parts->run, &floors);
  }
  return fused;
}

int RunFusion(const FusionOptions& options, const Style& style) {
  RecordedProgram program(options.command, options.address, "fusion");
  const Status begun = program.Begin();
  if (!begun.ok()) return Fail(begun.error());
  const Result<Fused> fused = Try(program, options.steps);
  if (!fused.ok()) return Fail(fused.error());
  const std::string text =
      options.json ? FusedJson(*fused) : FusedText(*fused, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!fused->compiled()) return kExitFailed;
  return fused->first() != nullptr ? 2 : 0;
}

}  // namespace

bool Fused::compiled() const {
  return whole.only_a > 0 || whole.first || whole.bits || whole.loss.first_step;
}

const Divergence* Fused::first() const {
  if (is_part()) return &*parts->first;
  return whole.first ? &*whole.first : nullptr;
}

bool Fused::is_part() const {
  return parts && parts->first &&
         (!whole.first || parts->first->op != whole.first->op);
}

Command FusionCommand(const std::string* address) {
  const auto options = std::make_shared<FusionOptions>();
  return {.name = "fusion",
          .help =
              "run the first step of a training with the kernels of "
              "torch.compile, jax.jit, XLA under Keras on TensorFlow or "
              "MindSpore's graphs and without, in fp32, and name the "
              "region, and the module or function in it, that computes "
              "something else: `nanwatch fusion -- python train.py`. The "
              "program uses nanwatch's hook of its framework. GE is not tried",
          .options = {{.names = "command",
                       .target = &options->command,
                       .help = "the program and its arguments",
                       .required = true},
                      {.names = "--steps",
                       .target = &options->steps,
                       .help = "after which the program is ended, without its "
                               "own clean-up; default: 1",
                       .check = Between(1, 3)},
                      {"--json", &options->json, "as JSON"}},
          .run = [=] {
            options->address = DaemonAddress(*address);
            return RunFusion(*options, Style::OfTerminal());
          }};
}

}  // namespace nanwatch
