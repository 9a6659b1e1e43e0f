#include "compare/compared_run.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/limits.h"

namespace nanwatch {
namespace {

constexpr size_t kFlagsKept = 1 << 16;  // of a device; the first ones

ComparedStep StepOf(const StepRecord& record) {
  ComparedStep step;
  step.step = record.step;
  step.loss = record.get(StepField::kLoss);
  step.grad_norm = record.get(StepField::kGradNorm);
  step.learning_rate = record.get(StepField::kLearningRate);
  step.loss_scale = record.get(StepField::kLossScale);
  step.skipped = record.is(StepFlag::kSkipped);
  return step;
}

void AddCount(const std::optional<uint64_t>& part,
              std::optional<uint64_t>* whole) {
  if (part && *whole) {
    **whole += *part;
  } else {
    whole->reset();
  }
}

// Adds modulo 2^64, and sum by sum: what proto/SKETCH.md says of shards.
void AddPart(const ComparedTensor& part, ComparedTensor* whole) {
  *whole->digest += *part.digest;
  AddCount(part.nan, &whole->nan);
  AddCount(part.inf, &whole->inf);
  if (!whole->sketch || !part.sketch) {
    whole->sketch.reset();
    return;
  }
  for (size_t i = 0; i < kSketchSums; ++i) {
    (*whole->sketch)[i] += (*part.sketch)[i];
  }
}

// Takes the counts of non-finite elements from the row, where its sketch has
// none.
void TakeCounts(const OpColumns& columns, size_t row, ComparedTensor* tensor) {
  const auto of = [&](OpCount count) {
    return CountAt(columns.count[static_cast<int>(count)], row);
  };
  if (!tensor->nan) tensor->nan = of(OpCount::kNan);
  if (tensor->inf) return;
  const auto above = of(OpCount::kPosInf), below = of(OpCount::kNegInf);
  if (above && below) tensor->inf = *above + *below;
}

}  // namespace

std::string TextOf(const OpName& op) {
  std::string text = op.name + '\n' + op.type + '\n' +
                     std::string(Name(op.dtype)) + (op.part ? "/" : ":");
  for (const int64_t dim : op.logical_shape) text += std::to_string(dim) + ',';
  return text;
}

void RunCollector::Take(const Event& event) {
  if (const auto* opened = std::get_if<RunOpened>(&event.body)) {
    *this = RunCollector();
    run_.key = event.run;
    run_.description = opened->description;
  } else if (const auto* names = std::get_if<OpNamesAdded>(&event.body)) {
    TakeNames(event, names->names);
  } else if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    TakeSteps(event.rank, steps->columns);
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    TakeFlags(event, ops->columns);
    TakeOps(event, ops->columns);
  }
}

uint32_t RunCollector::OpOf(const OpName& name) {
  const auto [at, is_new] =
      known_.try_emplace(TextOf(name), static_cast<uint32_t>(run_.ops.size()));
  if (is_new) run_.ops.push_back(name);
  return at->second;
}

void RunCollector::TakeNames(const Event& event, const OpNames& names) {
  std::vector<uint32_t>& ops = ops_[event.session];
  const size_t end = names.first_index + names.ops.size();
  if (end > limits::kOpsPerSession) return;
  if (ops.size() < end) ops.resize(end, UINT32_MAX);
  for (size_t i = 0; i < names.ops.size(); ++i) {
    ops[names.first_index + i] = OpOf(names.ops[i]);
  }
}

void RunCollector::TakeSteps(int32_t rank, const StepColumns& columns) {
  if (rank != lowest_ && lowest_ != INT32_MAX) run_.several_ranks = true;
  if (rank > lowest_) return;
  if (rank < lowest_) steps_.clear();
  lowest_ = rank;
  StepReader reader(columns);
  StepRecord record;
  size_t digest = 0;
  for (size_t row = 0; reader.Next(&record); ++row) {
    ComparedStep step = StepOf(record);
    const std::vector<BatchDigest>& batches = columns.batch_digests;
    while (digest < batches.size() && batches[digest].row < row) ++digest;
    if (digest < batches.size() && batches[digest].row == row) {
      step.batch = batches[digest].digest;
    }
    steps_[step.step] = step;
  }
}

void RunCollector::TakeFlags(const Event& event, const OpColumns& columns) {
  if (!columns.device_flag) return;
  run_.device_checked = true;
  const std::vector<uint32_t>& ops = ops_[event.session];
  for (const uint32_t row : columns.device_flag->rows) {
    const uint32_t op = columns.op[row];
    if (op >= ops.size() || ops[op] == UINT32_MAX) continue;
    if (run_.overflows.size() == kFlagsKept) return;
    run_.overflows.push_back(
        {columns.GroupOf(row).step, run_.ops[ops[op]].name, "device flag", ""});
  }
}

void RunCollector::TakeOps(const Event& event, const OpColumns& columns) {
  if (columns.digest.empty()) return;
  const std::vector<uint32_t>& ops = ops_[event.session];
  size_t sketch = 0;
  for (size_t row = 0; row < columns.rows(); ++row) {
    ComparedTensor tensor;
    const Sketches& sketches = columns.sketches;
    if (sketch < sketches.rows.size() && sketches.rows[sketch] == row) {
      tensor.sketch.emplace();
      std::copy_n(sketches.values.begin() +
                      static_cast<ptrdiff_t>(sketch * kSketchSums),
                  kSketchSums, tensor.sketch->begin());
      tensor.nan = CountAt(sketches.nan, sketch);
      tensor.inf = CountAt(sketches.inf, sketch);
      ++sketch;
    }
    TakeCounts(columns, row, &tensor);
    const uint32_t op = columns.op[row];
    if (op >= ops.size() || ops[op] == UINT32_MAX) continue;
    tensor.step = columns.GroupOf(row).step;
    tensor.op = ops[op];
    tensor.slot = columns.slot[row];
    tensor.elements = columns.elements[row];
    tensor.digest = columns.digest[row];
    Keep(event.rank, tensor);
  }
}

void RunCollector::Keep(int32_t rank, ComparedTensor tensor) {
  tensor.place = places_[{rank, tensor.step, tensor.op, tensor.slot}]++;
  const bool whole = !run_.ops[tensor.op].part;
  if (!whole) {
    const auto [at, is_first] =
        parts_.try_emplace({tensor.step, tensor.op, tensor.slot, tensor.place},
                           run_.tensors.size());
    if (!is_first) {
      AddPart(tensor, &run_.tensors[at->second]);
      return;
    }
  }
  run_.tensors.push_back(std::move(tensor));
  ranks_.push_back(whole ? rank : -1);
}

ComparedRun RunCollector::Finish() {
  int32_t lowest = INT32_MAX;
  for (const int32_t rank : ranks_) {
    if (rank >= 0) lowest = std::min(lowest, rank);
  }
  size_t row = 0;  // in place: there may be some 100 MB of them
  std::erase_if(run_.tensors, [&](const ComparedTensor&) {
    const int32_t rank = ranks_[row++];
    return rank >= 0 && rank != lowest;
  });
  const auto before = [](const ComparedTensor& a, const ComparedTensor& b) {
    return a.step < b.step;
  };
  if (!std::is_sorted(run_.tensors.begin(), run_.tensors.end(), before)) {
    std::stable_sort(run_.tensors.begin(), run_.tensors.end(), before);
  }
  for (auto& [number, step] : steps_) run_.steps.push_back(step);
  return std::move(run_);
}

}  // namespace nanwatch
