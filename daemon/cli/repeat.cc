#include "cli/repeat.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cli/floors_file.h"
#include "cli/number_checks.h"
#include "cli/option.h"
#include "cli/recorded_program.h"
#include "compare/comparison.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

struct RepeatOptions {
  std::vector<std::string> command;  // not empty
  int32_t times = 3;
  int32_t steps = 3;
  std::string floors;   // a file to write; empty: none
  std::string address;  // of the daemon; empty: the usual places
  bool json = false;
};

void AddTo(std::vector<Seen>* all, const Unsteady& found) {
  for (Seen& seen : *all) {
    Unsteady& known = seen.what;
    if (known.kind != found.kind || known.op != found.op) continue;
    ++seen.repeats;
    known.tensors = std::max(known.tensors, found.tensors);
    if (found.distance) {
      known.distance = std::max(known.distance.value_or(0), *found.distance);
    }
    return;
  }
  all->push_back({found, 1});
}

void TakePair(const ComparedRun& first, const ComparedRun& other,
              Repeats* repeats) {
  ++repeats->count;
  const Comparison comparison = Compare(first, other);
  repeats->tensors += comparison.tensors;
  repeats->losses += comparison.loss.steps;
  const UnsteadyOps found = FindUnsteadyOps(first, other);
  if (!found.step) return;
  // Of what comes later nothing is known: what came first made it so.
  if (repeats->step && *found.step > *repeats->step) return;
  if (repeats->step != found.step) repeats->seen.clear();
  repeats->step = found.step;
  for (const Unsteady& one : found.ops) AddTo(&repeats->seen, one);
}

int RepeatProgram(const RepeatOptions& options, const Style& style) {
  RecordedProgram program(options.command, options.address, "repeat");
  const Status begun = program.Begin();
  if (!begun.ok()) return Fail(begun.error());
  const std::optional<int64_t> steps =
      options.steps > 0 ? std::optional<int64_t>(options.steps) : std::nullopt;
  std::optional<ComparedRun> first;
  Repeats repeats;
  Floors floors;
  for (int32_t i = 0; i < options.times; ++i) {
    Result<ComparedSide> side = program.Run(std::to_string(i), steps);
    if (!side.ok()) return Fail(side.error());
    repeats.runs.push_back(side->name);
    if (!first) {
      first = std::move(side->run);
      continue;
    }
    TakePair(*first, side->run, &repeats);
    floors.Take(*first, side->run);
  }
  if (repeats.tensors + repeats.losses == 0) {
    return Fail("the repeats have no step in common: nothing was compared");
  }
  if (!options.floors.empty()) {
    const Status written = WriteFloors(options.floors, floors, repeats.count);
    if (!written.ok()) return Fail(written.error());
    repeats.floors_file = options.floors;
  }
  const std::string text =
      options.json ? RepeatsJson(repeats) : RepeatsText(repeats, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return repeats.differs() ? 2 : 0;
}

}  // namespace

Command RepeatCommand(const std::string* address) {
  const auto options = std::make_shared<RepeatOptions>();
  return {.name = "repeat",
          .help =
              "run the first steps of a training several times, name what is "
              "not the same each time, and measure how far repeats lie apart: "
              "`nanwatch repeat -- python train.py`. The program calls "
              "nanwatch.torch.watch or nanwatch.jax.watch",
          .options = {{.names = "command",
                       .target = &options->command,
                       .help = "the program and its arguments",
                       .required = true},
                      {.names = "-n",
                       .target = &options->times,
                       .help = "how often; default: 3",
                       .check = Between(2, 100)},
                      {.names = "--steps",
                       .target = &options->steps,
                       .help = "after which the program is ended, without its "
                               "own clean-up; 0: it runs to its end; default: "
                               "3",
                       .check = Between(0, 1'000'000)},
                      {"--floors", &options->floors,
                       "a file to write, for `compare --floors`"},
                      {"--json", &options->json, "as JSON"}},
          .run = [=] {
            options->address = DaemonAddress(*address);
            return RepeatProgram(*options, Style::OfTerminal());
          }};
}

}  // namespace nanwatch
