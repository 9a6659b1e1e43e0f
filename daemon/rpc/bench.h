// What a run is to be compared with, as a caller says it.

#ifndef NANWATCH_RPC_BENCH_H_
#define NANWATCH_RPC_BENCH_H_

#include <string>

#include "base/result.h"
#include "model/event.h"
#include "model/snapshot.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// `caller`: the user behind the call; empty: not known.
Result<BenchmarkSet> ReadBenchmarkSet(const v1::SetBenchmarkRequest& request,
                                      const RunView& run,
                                      const Snapshot& snapshot,
                                      const std::string& caller);

// What was done, in one sentence.
std::string Describe(const BenchmarkSet& set, const RunView& run);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_BENCH_H_
