// The losses of a recorded run, for another one to be held against.

#ifndef NANWATCH_COMPARE_BENCHMARK_OF_H_
#define NANWATCH_COMPARE_BENCHMARK_OF_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "compare/compared_run.h"
#include "model/benchmark.h"

namespace nanwatch {

// `reference`: what it is called. Not more than are held. The error says why
// the run is no benchmark.
Result<std::shared_ptr<const Benchmark>> BenchmarkOf(
    const ComparedRun& run, const std::string& reference);

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_BENCHMARK_OF_H_
