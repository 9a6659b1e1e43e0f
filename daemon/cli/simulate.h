// simulate: what would have happened with another loss scaler.

#ifndef NANWATCH_CLI_SIMULATE_H_
#define NANWATCH_CLI_SIMULATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/update_recorder.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/style.h"
#include "scaler/simulation.h"

namespace nanwatch {

struct SimulateOptions {
  std::string recording;  // a file, or a run that the daemon knows
  RunChoice run;          // of a file with several
  std::string address;    // of the daemon; empty: the usual places
  CheckOptions log;       // how a log is read
  std::string scaler;     // catalog name, "none"; empty: the run's own
  std::optional<double> fixed;
  // What is set of the scaler's numbers.
  ScalerDeclaration numbers;
  bool layerwise = false;
  bool json = false;
};

int SimulateRun(const SimulateOptions& options, const Style& style);
// The same of scales that layers have of their own.
int SimulateRunsLayers(const SimulateOptions& options, const Style& style);

// Reads the recording, or from the daemon as `export` has it.
Status ReadForSimulation(const SimulateOptions& options,
                         const std::function<void(const Event&)>& take);

// The scaler that is to be simulated, with all its numbers.
struct ScalerChoice {
  SimulatedScaler scaler;
  const ScalerSpec* spec = nullptr;  // null: not one of the catalog
  std::string title;                 // "Megatron-LM DynamicGradScaler"
  bool init_recorded = false;        // the first scale is the recorded one
};
// The error is a sentence for who typed it.
Result<ScalerChoice> ChooseScaler(const SimulateOptions& options,
                                  const RecordedRun& run);

// All that a simulation says, for people and for programs.
struct SimulationReport {
  const RecordedRun* run = nullptr;
  ScalerChoice choice;
  ScalerOutcome recorded;
  ScalerOutcome simulated;
  ScalerOutcome at_best;   // no unknown update overflows
  ScalerOutcome at_worst;  // each does
  std::string complaint;   // of the recording
};
// What had to be assumed, a sentence each.
std::vector<std::string> AssumptionsOf(const SimulationReport& report);
std::string SimulationText(const SimulationReport& report, const Style& style);
std::string SimulationJson(const SimulationReport& report);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_SIMULATE_H_
