// ComparedRun: what of a recorded run two of them are compared by, and the
// collector that takes it from the run's events.

#ifndef NANWATCH_COMPARE_COMPARED_RUN_H_
#define NANWATCH_COMPARE_COMPARED_RUN_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/boxed.h"
#include "compare/tensor_statistics.h"
#include "model/event.h"
#include "model/op.h"
#include "model/run.h"

namespace nanwatch {

struct ComparedStep {
  int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> grad_norm;  // unscaled, before clipping
  std::optional<double> learning_rate;
  std::optional<double> loss_scale;
  bool skipped = false;           // as far as it is told
  std::optional<uint64_t> batch;  // the digest of its data
};

using SketchValues = std::array<float, kSketchSums>;

struct ComparedTensor {
  int64_t step = 0;
  uint32_t op = 0;  // index into ComparedRun::ops
  Slot slot = Slot::kOutput;
  uint32_t place = 0;  // among those of its step, op and slot
  uint64_t elements = 0;
  std::optional<uint64_t> digest;  // absent: its bits are not known
  std::optional<SketchValues> sketch;
  Boxed<TensorStatistics> statistics;  // of a dump
  // Elements; absent: not counted. Where statistics alone say that there are
  // some: 1.
  std::optional<uint64_t> nan;
  std::optional<uint64_t> inf;
};

// Returns how many elements are known to be NaN or infinite.
inline uint64_t SpecialsOf(const ComparedTensor& tensor) {
  return tensor.nan.value_or(0) + tensor.inf.value_or(0);
}

// That a device's own check found within an op, whatever its output.
struct DeviceOverflow {
  int64_t step = 0;
  std::string op;       // or the task and stream, where no file names it
  std::string unit;     // of the device
  std::string meaning;  // of its status; empty: not known
};

struct ComparedRun {
  RunKey key;
  RunDescription description;
  std::vector<OpName> ops;
  std::vector<ComparedStep> steps;      // rising, each once
  std::vector<ComparedTensor> tensors;  // by step, then as they were told
  bool several_ranks = false;
  std::vector<DeviceOverflow> overflows;
  bool device_checked = false;  // a device looked for overflows
  // Of a dump: its tensors are in the order in which they were made.
  bool ordered = true;
  // Its numbers are a log's, which does not say in which format they were
  // computed.
  bool printed = false;
  size_t unread = 0;  // files of a dump that could not be read
  size_t empty = 0;   // tensors of a dump that it has no numbers of
};

// A run as one side of a comparison.
struct ComparedSide {
  std::string name;       // as who asked calls it
  std::string complaint;  // what is missing in it, a sentence; empty: nothing
  ComparedRun run;
};

// Returns all that an op's name says, in one text.
std::string TextOf(const OpName& op);

// Of several ranks the lowest one's steps and tensors count; parts of a tensor
// are added up over all.
class RunCollector {
 public:
  void Take(const Event& event);
  // Steps and tensors that it holds, 100 to 300 bytes each.
  size_t held() const { return steps_.size() + run_.tensors.size(); }
  // Call once, last.
  ComparedRun Finish();

 private:
  // Step, op, slot, place.
  using TensorKey = std::tuple<int64_t, uint32_t, Slot, uint32_t>;

  void TakeNames(const Event& event, const OpNames& names);
  void TakeSteps(int32_t rank, const StepColumns& columns);
  void TakeFlags(const Event& event, const OpColumns& columns);
  void TakeOps(const Event& event, const OpColumns& columns);
  void Keep(int32_t rank, ComparedTensor tensor);
  uint32_t OpOf(const OpName& name);

  ComparedRun run_;
  int32_t lowest_ = INT32_MAX;  // rank
  // Of each session, which run_.ops its indices mean.
  std::map<SessionId, std::vector<uint32_t>> ops_;
  std::map<std::string, uint32_t> known_;  // by all that an op's name says
  std::map<int64_t, ComparedStep> steps_;
  // Of each of run_.tensors; -1: it is the sum of several ranks' parts.
  std::vector<int32_t> ranks_;
  std::map<TensorKey, size_t> parts_;  // where in run_.tensors
  // Rank, step, op, slot: so many there were.
  std::map<std::tuple<int32_t, int64_t, uint32_t, Slot>, uint32_t> places_;
};

}  // namespace nanwatch

#endif  // NANWATCH_COMPARE_COMPARED_RUN_H_
