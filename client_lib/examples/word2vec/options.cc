#include "options.h"

#include <getopt.h>

#include <charconv>
#include <cstring>

namespace word2vec {

const char kUsage[] =
    R"(nanwatch-word2vec: train word2vec in half precision, watched by nanwatch

  --scenario NAME     padding  the Log of the loss overflows in its padding at
                               every step; nothing is ever learned (default)
                      cure     the same with a fixed loss scale, check off
                      range    the loss scale starts far too high
                      nan      one batch is poisoned, that of step 1000
  --scaler NAME       ascend_tf, pytorch or static instead of the scenario's
  --steps N           updates, applied or skipped
  --poison-step N     in the scenario nan: which batch
  --seed N            of the vectors and the batches (default 1)
  --text FILE         English text (default: what `bible` of Debian's package
                      bible-kjv prints)
  --job NAME          name of the job (default word2vec)
  --run ID            run id (default: as the client finds it)
  --address ADDRESS   of nanwatchd (default: as the client finds it)
  --step-delay-ms N   wait after each step
  --quiet             the last line only
  --help

Exit status: 0 the training ended as its scenario should, 1 it did not,
2 it could not start, 3 it was asked to stop.
)";

namespace {

enum Flag {
  kScenario,
  kScaler,
  kSteps,
  kPoison,
  kSeed,
  kText,
  kJob,
  kRun,
  kAddress,
  kDelay,
  kQuiet,
  kHelp
};
const option kFlags[] = {{"scenario", required_argument, nullptr, kScenario},
                         {"scaler", required_argument, nullptr, kScaler},
                         {"steps", required_argument, nullptr, kSteps},
                         {"poison-step", required_argument, nullptr, kPoison},
                         {"seed", required_argument, nullptr, kSeed},
                         {"text", required_argument, nullptr, kText},
                         {"job", required_argument, nullptr, kJob},
                         {"run", required_argument, nullptr, kRun},
                         {"address", required_argument, nullptr, kAddress},
                         {"step-delay-ms", required_argument, nullptr, kDelay},
                         {"quiet", no_argument, nullptr, kQuiet},
                         {"help", no_argument, nullptr, kHelp},
                         {nullptr, 0, nullptr, 0}};

// What was given, as text; applied to the scenario once that is known.
struct Given {
  std::string scenario = "padding";
  std::string scaler, steps, poison, seed, delay;
};

template <typename T>
bool ParseNumber(const char* flag, const std::string& text, T least, T most,
                 T* value, std::string* error) {
  if (text.empty()) return true;
  const char* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, *value);
  if (ec == std::errc() && stop == end && *value >= least && *value <= most) {
    return true;
  }
  *error = std::string("--") + flag + " is \"" + text +
           "\"; give a whole number from " + std::to_string(least) + " to " +
           std::to_string(most) + ".";
  return false;
}

bool ApplyScaler(const std::string& name, ScalerChoice* choice,
                 std::string* error) {
  using Kind = ScalerChoice::Kind;
  if (name.empty()) return true;
  for (Kind kind : {Kind::kAscendTf, Kind::kPytorch, Kind::kFixed}) {
    if (name == Name(kind)) {
      choice->kind = kind;
      return true;
    }
  }
  *error = "--scaler is \"" + name + "\"; choose ascend_tf, pytorch or static.";
  return false;
}

// A poisoned batch that never comes would prove nothing.
bool PoisonComes(const Given& given, const Scenario& s, std::string* error) {
  if (s.name != "nan") {
    if (given.poison.empty()) return true;
    *error = "--poison-step belongs to --scenario nan, not to " + s.name + ".";
    return false;
  }
  if (s.poisoned_step < s.steps) return true;
  *error = "Nothing would be poisoned: the batch is that of step " +
           std::to_string(s.poisoned_step) + ", and the last step of " +
           std::to_string(s.steps) + " is " + std::to_string(s.steps - 1) +
           "; give a smaller --poison-step or more --steps.";
  return false;
}

bool Apply(const Given& given, Options* options, std::string* error) {
  const auto scenario = FindScenario(given.scenario);
  if (!scenario) {
    *error = "--scenario is \"" + given.scenario +
             "\"; choose padding, cure, range or nan.";
    return false;
  }
  options->scenario = *scenario;
  Scenario* s = &options->scenario;
  constexpr int64_t kMost = 1'000'000'000;
  return ApplyScaler(given.scaler, &s->scaler, error) &&
         ParseNumber<int64_t>("steps", given.steps, 1, kMost, &s->steps,
                              error) &&
         ParseNumber<int64_t>("poison-step", given.poison, 0, kMost,
                              &s->poisoned_step, error) &&
         PoisonComes(given, *s, error) &&
         ParseNumber<uint64_t>("seed", given.seed, 0, kMost, &options->seed,
                               error) &&
         ParseNumber("step-delay-ms", given.delay, 0, 60'000,
                     &options->step_delay_ms, error);
}

}  // namespace

bool ParseOptions(int argc, char** argv, Options* options, std::string* error) {
  Given given;
  opterr = 0;
  for (int flag; (flag = getopt_long(argc, argv, "", kFlags, nullptr)) != -1;) {
    switch (flag) {
      case kScenario:
        given.scenario = optarg;
        break;
      case kScaler:
        given.scaler = optarg;
        break;
      case kSteps:
        given.steps = optarg;
        break;
      case kPoison:
        given.poison = optarg;
        break;
      case kSeed:
        given.seed = optarg;
        break;
      case kDelay:
        given.delay = optarg;
        break;
      case kText:
        options->text = optarg;
        break;
      case kJob:
        options->job = optarg;
        break;
      case kRun:
        options->run = optarg;
        break;
      case kAddress:
        options->address = optarg;
        break;
      case kQuiet:
        options->quiet = true;
        break;
      case kHelp:
        options->help = true;
        break;
      default:
        *error = std::string("The option ") + argv[optind - 1] +
                 " is unknown or lacks its value; see --help.";
        return false;
    }
  }
  if (optind < argc) {
    *error = std::string("The argument \"") + argv[optind] +
             "\" belongs to no option; see --help.";
    return false;
  }
  return Apply(given, options, error);
}

}  // namespace word2vec
