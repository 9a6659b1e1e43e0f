#include "model/op.h"

#include <algorithm>
#include <limits>

namespace nanwatch {
std::optional<uint64_t> CountAt(const std::optional<SparseCounts>& column,
                                size_t row) {
  if (!column || TestBit(column->absent, row)) return std::nullopt;
  const auto at =
      std::lower_bound(column->rows.begin(), column->rows.end(), row);
  if (at == column->rows.end() || *at != row) return 0;
  return column->counts[at - column->rows.begin()];
}

std::string_view Name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kUnknown:
      return "unknown";
    case Dtype::kFp64:
      return "fp64";
    case Dtype::kFp32:
      return "fp32";
    case Dtype::kFp16:
      return "fp16";
    case Dtype::kBf16:
      return "bf16";
    case Dtype::kFp8E4M3:
      return "fp8_e4m3";
    case Dtype::kFp8E5M2:
      return "fp8_e5m2";
  }
  return "unknown";
}

double MaxFinite(Dtype dtype) {
  switch (dtype) {
    case Dtype::kUnknown:
      break;
    case Dtype::kFp64:
      return std::numeric_limits<double>::max();
    case Dtype::kFp32:
      return std::numeric_limits<float>::max();
    case Dtype::kFp16:
      return 65504;
    case Dtype::kBf16:
      return 0x1.fep127;
    case Dtype::kFp8E4M3:
      return 448;
    case Dtype::kFp8E5M2:
      return 57344;
  }
  return std::numeric_limits<double>::infinity();
}

double MinSubnormal(Dtype dtype) {
  switch (dtype) {
    case Dtype::kUnknown:
      break;
    case Dtype::kFp64:
      return std::numeric_limits<double>::denorm_min();
    case Dtype::kFp32:
      return 0x1p-149;
    case Dtype::kBf16:
      return 0x1p-133;
    case Dtype::kFp16:
      return 0x1p-24;
    case Dtype::kFp8E4M3:
      return 0x1p-9;
    case Dtype::kFp8E5M2:
      return 0x1p-16;
  }
  return 0;
}

std::string_view Name(Slot slot) {
  switch (slot) {
    case Slot::kInput:
      return "input";
    case Slot::kOutput:
      return "output";
    case Slot::kGradInput:
      return "grad_input";
    case Slot::kGradOutput:
      return "grad_output";
    case Slot::kParameter:
      return "parameter";
    case Slot::kOptimizerState:
      return "optimizer_state";
    case Slot::kCollective:
      return "collective";
  }
  return "";
}

std::string_view Name(OpCount count) {
  switch (count) {
    case OpCount::kNan:
      return "nan";
    case OpCount::kPosInf:
      return "pos_inf";
    case OpCount::kNegInf:
      return "neg_inf";
    case OpCount::kSaturated:
      return "saturated";
    case OpCount::kZero:
      return "zero";
    case OpCount::kSubnormal:
      return "subnormal";
  }
  return "";
}

std::string_view Name(OpStat stat) {
  switch (stat) {
    case OpStat::kMin:
      return "min";
    case OpStat::kMax:
      return "max";
    case OpStat::kAbsMax:
      return "abs_max";
    case OpStat::kMean:
      return "mean";
    case OpStat::kRms:
      return "rms";
    case OpStat::kLog2Mean:
      return "log2_mean";
    case OpStat::kLog2Std:
      return "log2_std";
    case OpStat::kFp8Amax:
      return "fp8_amax";
    case OpStat::kFp8ScaleInv:
      return "fp8_scale_inv";
  }
  return "";
}

uint64_t Elements(const std::vector<int64_t>& shape) {
  if (shape.empty()) return 0;
  uint64_t product = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 ||
        __builtin_mul_overflow(product, static_cast<uint64_t>(dim), &product)) {
      return 0;
    }
  }
  return product;
}

uint64_t PaddingElements(const OpName& op) {
  const uint64_t logical = Elements(op.logical_shape);
  const uint64_t storage = Elements(op.storage_shape);
  return storage > logical && logical > 0 ? storage - logical : 0;
}

uint64_t OpStatus::BadElements(bool saturation) const {
  uint64_t bad = get(OpCount::kNan).value_or(0) +
                 get(OpCount::kPosInf).value_or(0) +
                 get(OpCount::kNegInf).value_or(0);
  if (saturation) bad += get(OpCount::kSaturated).value_or(0);
  return bad;
}

uint32_t LargestOp(const OpColumns& columns) {
  uint32_t largest = 0;
  for (const uint32_t op : columns.op) largest = std::max(largest, op);
  return largest;
}

bool IsForComparing(const OpColumns& columns) {
  const auto told = [](const auto& column) { return column.has_value(); };
  return !columns.digest.empty() && columns.exponents.empty() &&
         !columns.device_flag &&
         std::none_of(columns.count.begin(), columns.count.end(), told) &&
         std::none_of(columns.stat.begin(), columns.stat.end(), told);
}

void OpColumns::AddGroup(int64_t step, Time time, size_t n) {
  const bool same = !groups.empty() && groups.back().step == step &&
                    groups.back().time == time;
  if (!same) {
    const uint32_t begin = groups.empty() ? 0 : groups.back().end;
    groups.push_back({step, time, begin});
  }
  groups.back().end += static_cast<uint32_t>(n);
}

const OpGroup& OpColumns::GroupOf(size_t row) const {
  return *std::ranges::upper_bound(groups, row, {}, &OpGroup::end);
}

OpStatus ReadRow(const OpColumns& columns, size_t row) {
  OpStatus status;
  const OpGroup& group = columns.GroupOf(row);
  status.step = group.step;
  status.time = group.time;
  status.op = columns.op[row];
  status.slot = columns.slot[row];
  status.elements = columns.elements[row];
  for (int c = 0; c < kOpCounts; ++c) {
    status.count[c] = CountAt(columns.count[c], row);
  }
  for (int s = 0; s < kOpStats; ++s) {
    const std::optional<OpStatColumn>& column = columns.stat[s];
    if (column && !TestBit(column->absent, row)) {
      status.stat[s] = column->values[row];
    }
  }
  if (const auto flag = CountAt(columns.device_flag, row)) {
    status.device_flag = *flag != 0;
  }
  return status;
}

}  // namespace nanwatch
