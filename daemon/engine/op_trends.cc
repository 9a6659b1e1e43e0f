#include "engine/op_trends.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/limits.h"
#include "scaler/scale_fit.h"

namespace nanwatch {
namespace {

// Statuses of an FP8 tensor until its usual state is known; then it follows
// slowly, and not at all while it is far off.
constexpr int kLearn = 16;
constexpr float kFollow = 1.0f / 64;
constexpr int kNewLevel = 512;  // far off for so long: that is usual now
// Worth a look; the rules' thresholds are not below these.
constexpr float kJump = 4;
constexpr float kMoreZeros = 0.05f;
constexpr double kClipped = 0.001;
constexpr double kBeyond = 2;

std::optional<float> StatAt(const OpColumns& columns, OpStat stat, size_t row) {
  const auto& column = columns.stat[static_cast<int>(stat)];
  if (!column || TestBit(column->absent, row)) return std::nullopt;
  return column->values[row];
}

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// log2 of a root mean square; NaN where it has none.
float SizeOf(const std::optional<float>& rms) {
  const bool usable = rms && *rms > 0 && std::isfinite(*rms);
  return usable ? Log2(std::max(*rms, 0x1p-126f)) : kUnknown;
}

GradientStatus StatusOf(const OpColumns& columns, size_t row, Dtype dtype,
                        SparseRows* sparse) {
  GradientStatus status;
  status.range.dtype = dtype;
  status.range.elements = columns.elements[row];
  status.range.zeros = sparse->Zeros(row);
  status.range.rms = StatAt(columns, OpStat::kRms, row);
  status.range.log2_mean = StatAt(columns, OpStat::kLog2Mean, row);
  status.range.log2_std = StatAt(columns, OpStat::kLog2Std, row);
  status.abs_max = StatAt(columns, OpStat::kAbsMax, row);
  if (const ExponentCounts* exponents = sparse->Exponents(row)) {
    const int32_t limit = std::ilogb(MinSubnormal(dtype));
    status.lowest = LowestExact(exponents->counts, exponents->first, limit);
    if (status.lowest) {
      status.exponents = exponents->counts;
      status.first = exponents->first;
    }
  }
  if (!status.lowest) status.lowest = LowestOf(status.range);
  return status;
}

}  // namespace

std::optional<uint64_t> SparseRows::At(OpCount count, size_t row,
                                       size_t* cursor) const {
  const auto& column = columns_.count[static_cast<int>(count)];
  if (!column || TestBit(column->absent, row)) return std::nullopt;
  return Lists(column, row, cursor) ? column->counts[*cursor] : 0;
}

bool SparseRows::Lists(const std::optional<SparseCounts>& column, size_t row,
                       size_t* cursor) {
  if (!column) return false;
  while (*cursor < column->rows.size() && column->rows[*cursor] < row) {
    ++*cursor;
  }
  return *cursor < column->rows.size() && column->rows[*cursor] == row;
}

bool SparseRows::IsBad(size_t row) {
  const auto count = [&](OpCount c) -> const std::optional<SparseCounts>& {
    return columns_.count[static_cast<int>(c)];
  };
  return Lists(count(OpCount::kNan), row, &bad_[0]) ||
         Lists(count(OpCount::kPosInf), row, &bad_[1]) ||
         Lists(count(OpCount::kNegInf), row, &bad_[2]) ||
         Lists(columns_.device_flag, row, &bad_[3]);
}

const ExponentCounts* SparseRows::Exponents(size_t row) {
  const std::vector<ExponentCounts>& all = columns_.exponents;
  while (exponents_ < all.size() && all[exponents_].row < row) ++exponents_;
  return exponents_ < all.size() && all[exponents_].row == row
             ? &all[exponents_]
             : nullptr;
}

void OpTrends::NextStep(int64_t step) {
  if (current_.step != std::numeric_limits<int64_t>::min()) {
    if (head_ > 0 && head_ * 2 >= sums_.size()) {
      sums_.erase(sums_.begin(), sums_.begin() + static_cast<ptrdiff_t>(head_));
      head_ = 0;
    }
    // Of steps whose record is so late nothing is known.
    if (sums_.size() - head_ >= static_cast<size_t>(limits::kStepSums)) {
      ++head_;
    }
    sums_.push_back(current_);
  }
  current_ = StepSum{.step = step, .gradients = {}};
  masks_.clear();
  handed_on_ = {};
}

void OpTrends::AddMask(uint64_t name, uint64_t elements, uint64_t zeros) {
  if (masks_.size() >= limits::kMasksPerStep) return;
  masks_.push_back({name, elements, zeros});
}

uint64_t OpTrends::ZerosOfMask(Slot slot, uint64_t name, uint64_t elements,
                               uint64_t zeros) {
  if (slot == Slot::kGradInput) {
    const auto found = std::find_if(
        masks_.rbegin(), masks_.rend(), [elements, name](const Mask& mask) {
          return mask.name == name && mask.elements == elements;
        });
    handed_on_ = found == masks_.rend() ? Mask{} : *found;
  }
  // What arrives at the op before it is the same.
  return handed_on_.elements == elements ? std::min(zeros, handed_on_.zeros)
                                         : 0;
}

std::optional<float> OpTrends::AddWeight(const OpColumns& columns, size_t row,
                                         bool ordinary) {
  const std::optional<float> largest = StatAt(columns, OpStat::kAbsMax, row);
  if (!largest || (*largest >= kWildWeight && !ordinary)) return largest;
  const int64_t step = columns.GroupOf(row).step;
  const uint32_t op = columns.op[row];
  if (weights_.empty() || weights_.back().step != step) {
    if (weights_.size() == kLooks) weights_.erase(weights_.begin());
    weights_.push_back({.step = step, .op = op});
  }
  Weights& w = weights_.back();
  if (op == w.op) {
    w.largest = std::max(w.largest, *largest);
  } else if (*largest > w.largest) {
    w.others = std::max(w.others, w.largest);
    w.largest = *largest;
    w.op = op;
  } else {
    w.others = std::max(w.others, *largest);
  }
  return largest;
}

float OpTrends::OtherWeights(int64_t step, uint32_t op) const {
  for (const Weights& w : weights_) {
    if (w.step == step) return w.op == op ? w.others : w.largest;
  }
  return -1;
}

OpTrends::OfStep OpTrends::Of(const StepSum& sum) {
  const StepGradients& g = sum.gradients;
  const bool any = g.range.tensors() > 0 || g.first_order >= 0 || g.zeroed >= 0;
  return {.collected = true, .gradients = any ? &g : nullptr};
}

OpTrends::OfStep OpTrends::At(int64_t step) {
  if (current_.step == step) {
    head_ = sums_.size();
    return Of(current_);
  }
  while (head_ < sums_.size() && sums_[head_].step < step) ++head_;
  if (head_ < sums_.size() && sums_[head_].step == step) {
    return Of(sums_[head_]);
  }
  return {};
}

void OpTrends::AddZeroed(uint32_t op, Slot slot, bool zero, bool seen) {
  const uint64_t tensor = uint64_t{op} << 8 | static_cast<uint8_t>(slot);
  const auto at = std::lower_bound(zeroed_.begin(), zeroed_.end(), tensor);
  const bool known = at != zeroed_.end() && *at == tensor;
  if (known == zero) return;
  if (known) {
    zeroed_.erase(at);
    return;
  }
  if (zeroed_.size() >= static_cast<size_t>(limits::kZeroedTensors)) return;
  zeroed_.insert(at, tensor);
  if (!seen) return;  // it begins so, and may be meant to
  StepGradients& g = current_.gradients;
  if (g.zeroed >= 0) {
    ++g.zeroed_more;
  } else {
    g.zeroed = static_cast<int32_t>(op);
  }
}

void OpTrends::AddGradient(const OpColumns& columns, size_t row, int32_t order,
                           bool fp16, bool seen, SparseRows* sparse,
                           uint64_t name) {
  StepGradients& g = current_.gradients;
  const std::optional<float> rms = StatAt(columns, OpStat::kRms, row);
  const bool zero = rms && *rms == 0;
  if (zero || !zeroed_.empty()) {
    AddZeroed(columns.op[row], columns.slot[row], zero, seen);
  }
  if (fp16) {
    AddRange(columns, row, order, name, sparse);
  } else if (layers_.layerwise()) {
    layers_.Add({.step = columns.GroupOf(row).step,
                 .op = columns.op[row],
                 .slot = columns.slot[row],
                 .bad = sparse->IsBad(row),
                 .order = order,
                 .own_scale = kUnknown,
                 .size = SizeOf(rms)});
  }
  if (columns.slot[row] != Slot::kGradOutput || order < 0 || !rms ||
      !(*rms > 0) || std::isinf(*rms)) {
    return;
  }
  g.AddArrival(order, *rms);
}

OpTrends::Fp8* OpTrends::Find(uint32_t op, Slot slot) {
  if (next_ < fp8_.size() && fp8_[next_].op == op && fp8_[next_].slot == slot) {
    return &fp8_[next_++];
  }
  const auto at = std::lower_bound(
      fp8_.begin(), fp8_.end(), std::pair(op, slot),
      [](const Fp8& tensor, const std::pair<uint32_t, Slot>& key) {
        return std::tie(tensor.op, tensor.slot) <
               std::tie(key.first, key.second);
      });
  next_ = static_cast<size_t>(at - fp8_.begin()) + 1;
  if (at != fp8_.end() && at->op == op && at->slot == slot) return &*at;
  if (fp8_.size() >= static_cast<size_t>(limits::kFp8TensorsPerRank)) {
    return nullptr;
  }
  Fp8 fresh;
  fresh.op = op;
  fresh.slot = slot;
  return &*fp8_.insert(at, fresh);
}

void OpTrends::AddRange(const OpColumns& columns, size_t row, int32_t order,
                        uint64_t name, SparseRows* sparse) {
  GradientStatus status = StatusOf(columns, row, Dtype::kFp16, sparse);
  GradientRange& range = current_.gradients.range;
  bool masked = false;
  if (status.range.zeros) {
    const uint64_t of_mask = ZerosOfMask(
        columns.slot[row], name, status.range.elements, *status.range.zeros);
    *status.range.zeros -= of_mask;
    range.AddZeros(status.range.elements, *status.range.zeros);
    masked = of_mask > 0 && of_mask == status.range.elements;
    status.range.elements -= of_mask;
  }
  const ScaleFit fit = masked ? ScaleFit{} : FitOf(status, kScaleMargin);
  std::optional<double> lowest = status.lowest;
  if (fit.sight == Sight::kCut) lowest = fit.low;
  range.Add(columns.op[row], lowest, status.abs_max);
  layers_.Add({.step = columns.GroupOf(row).step,
               .op = columns.op[row],
               .slot = columns.slot[row],
               .bad = sparse->IsBad(row),
               .order = order,
               .fit = fit,
               .own_scale = kUnknown,
               .size = SizeOf(status.range.rms)});
}

// Its scale comes with it. Its largest value may have been told before it was
// cut off; nothing need be left free above, since what is beyond saturates.
void OpTrends::AddFp8Range(const OpColumns& columns, size_t row, Dtype dtype,
                           float inv, SparseRows* sparse) {
  GradientStatus status = StatusOf(columns, row, dtype, sparse);
  const auto amax = StatAt(columns, OpStat::kFp8Amax, row);
  if (amax && !status.abs_max) status.abs_max = *amax / inv;
  const ScaleFit fit = FitOf(status, 0);
  if (fit.sight == Sight::kNone) return;
  layers_.Add({.step = columns.GroupOf(row).step,
               .op = columns.op[row],
               .slot = columns.slot[row],
               .fit = fit,
               .own_scale = -Log2(std::max(inv, 0x1p-126f)),
               .size = SizeOf(status.range.rms)});
}

bool OpTrends::AddFp8(const OpColumns& columns, size_t row, Dtype dtype,
                      SparseRows* sparse, OpTrend* trend) {
  Fp8* const tensor = Find(columns.op[row], columns.slot[row]);
  if (tensor == nullptr) return false;
  bool odd = false;
  const float inv = StatAt(columns, OpStat::kFp8ScaleInv, row).value_or(0);
  const bool learnt = tensor->seen >= kLearn;
  if (inv > 0 && std::isfinite(inv)) {
    const float before = tensor->scale_inv;
    if (learnt && before > 0) {
      trend->scale_inv_before = before;
      odd |= inv >= kJump * before || inv * kJump <= before;
    }
    tensor->scale_inv = inv;
    const auto amax = StatAt(columns, OpStat::kFp8Amax, row);
    odd |= amax && *amax >= kBeyond * MaxFinite(dtype) * inv;
    if (IsOfGradient(columns.slot[row])) {
      AddFp8Range(columns, row, dtype, inv, sparse);
    }
  }
  const auto elements = static_cast<double>(columns.elements[row]);
  if (const auto saturated = sparse->Saturated(row)) {
    odd |= static_cast<double>(*saturated) > kClipped * elements;
  }
  const auto zeros = sparse->Zeros(row);
  if (zeros && elements > 0) {
    const auto share =
        static_cast<float>(static_cast<double>(*zeros) / elements);
    if (learnt) trend->usual_zeros = tensor->zeros;
    if (learnt && share > tensor->zeros + kMoreZeros) {
      odd = true;
      if (++tensor->above >= kNewLevel) tensor->seen = tensor->above = 0;
    } else {
      tensor->above = 0;
      const float weight =
          learnt ? kFollow : 1.0f / static_cast<float>(tensor->seen + 1);
      tensor->zeros += weight * (share - tensor->zeros);
    }
  }
  if (tensor->seen < UINT8_MAX) ++tensor->seen;
  return odd;
}

}  // namespace nanwatch
