// The benchmark that a run's losses are held against, as the command line names
// it.

#ifndef NANWATCH_CLI_BENCH_H_
#define NANWATCH_CLI_BENCH_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/commands.h"
#include "model/benchmark.h"

namespace nanwatch {

// Reads the losses of what `text` names, as `compare` takes it (cli/
// compared_side.h). The error is a sentence for who typed it.
Result<std::shared_ptr<const Benchmark>> ReadBenchmark(
    const std::string& text, const std::string& address,
    const CheckOptions& log);

Command BenchCommand(const std::string* address);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_BENCH_H_
