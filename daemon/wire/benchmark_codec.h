// A run's benchmark to what history keeps of it, and back.

#ifndef NANWATCH_WIRE_BENCHMARK_CODEC_H_
#define NANWATCH_WIRE_BENCHMARK_CODEC_H_

#include <memory>

#include "model/benchmark.h"
#include "nanwatch/v1/history.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

void WriteBenchmark(const Benchmark& from, v1::StoredBenchmark* to);
// Null: it has no points.
Verdict ReadBenchmark(const v1::StoredBenchmark& from,
                      std::shared_ptr<const Benchmark>* to);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_BENCHMARK_CODEC_H_
