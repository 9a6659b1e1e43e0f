#include "dumps/msprobe_reader.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <limits>
#include <utility>

#include "base/fnv1a.h"
#include "dumps/msprobe_name.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// Levels: the file, "data", an entry, its kind of arguments.
constexpr size_t kEntry = 2;
constexpr size_t kKind = 3;

// "torch.float32", MindSpore's "Float32".
Dtype DtypeOf(std::string_view name) {
  struct Named {
    std::string_view name;
    Dtype dtype;
  };
  constexpr Named kNames[] = {{"torch.float64", Dtype::kFp64},
                              {"Float64", Dtype::kFp64},
                              {"torch.float32", Dtype::kFp32},
                              {"Float32", Dtype::kFp32},
                              {"torch.float16", Dtype::kFp16},
                              {"Float16", Dtype::kFp16},
                              {"torch.bfloat16", Dtype::kBf16},
                              {"BFloat16", Dtype::kBf16},
                              {"torch.float8_e4m3fn", Dtype::kFp8E4M3},
                              {"torch.float8_e5m2", Dtype::kFp8E5M2}};
  for (const Named& named : kNames) {
    if (name == named.name) return named.dtype;
  }
  return Dtype::kUnknown;
}

std::optional<double>* StatisticNamed(std::string_view key,
                                      TensorStatistics* statistics) {
  if (key == "Max") return &statistics->max;
  if (key == "Min") return &statistics->min;
  if (key == "Mean") return &statistics->mean;
  if (key == "Norm") return &statistics->norm;
  return nullptr;
}

}  // namespace

Status MsprobeReader::Feed(std::string_view bytes) {
  const Status scanned = scan_.Feed(bytes);
  if (!scanned.ok()) return scanned;
  if (too_many_) {
    return Error{fmt::format("it has more than {} tensors", kDumpTensors)};
  }
  return OkStatus();
}

Result<std::vector<MsprobeTensor>> MsprobeReader::Finish() {
  const Status scanned = scan_.Finish();
  if (!scanned.ok()) return Error{scanned.error()};
  if (!has_data_) {
    return Error{"it has no \"data\": this is no dump.json of msprobe"};
  }
  // An optimizer's functions are forward ones, too; they end the step.
  if (backward_end_ > 0) {
    for (size_t i = backward_end_; i < tensors_.size(); ++i) {
      tensors_[i].dumped.tensor.slot = Slot::kOptimizerState;
    }
  }
  return std::move(tensors_);
}

void MsprobeReader::OnBegin(bool is_object) {
  if (levels_.size() == 1 && levels_[0].key == "data" && is_object) {
    has_data_ = true;
  }
  levels_.push_back({.is_object = is_object});
}

void MsprobeReader::OnEnd() {
  const Level ended = std::move(levels_.back());
  levels_.pop_back();
  if (!ended.is_object || levels_.size() <= kKind || !has_data_) return;
  TakeTensor(ended.fields);
}

void MsprobeReader::OnKey(std::string_view key) { levels_.back().key = key; }

void MsprobeReader::OnText(std::string_view text) {
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.is_object) return;
  Fields& fields = level.fields;
  if (level.key == "type") {
    fields.type = text;
  } else if (level.key == "dtype") {
    fields.dtype = text;
  } else if (level.key == "data_name") {
    fields.data_name = text;
  } else if (level.key == "md5" && !text.empty()) {
    fields.statistics.checksum = Fnv1aOf(text);
  } else if (StatisticNamed(level.key, &fields.statistics) != nullptr) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "nan") TakeNumber(std::nan(""));
    if (text == "inf") TakeNumber(kInfinity);
    if (text == "-inf") TakeNumber(-kInfinity);
  }
}

void MsprobeReader::OnNumber(double value, std::string_view) {
  TakeNumber(value);
}

void MsprobeReader::OnBool(bool value) { TakeNumber(value ? 1 : 0); }

void MsprobeReader::TakeNumber(double value) {
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.is_object) {
    // A shape is a list in an object.
    if (levels_.size() < 2) return;
    Level& outer = levels_[levels_.size() - 2];
    if (!outer.is_object || outer.key != "shape") return;
    constexpr double kLargest = 0x1p62;
    std::vector<int64_t>& shape = outer.fields.shape;
    if (shape.size() < limits::kShapeDims && value >= 0 && value < kLargest) {
      shape.push_back(static_cast<int64_t>(value));
    }
    return;
  }
  if (level.key == "value") level.fields.value = value;
  std::optional<double>* number =
      StatisticNamed(level.key, &level.fields.statistics);
  if (number != nullptr) *number = value;
}

Slot MsprobeReader::SlotHere(bool backward) const {
  const std::string& kind = levels_[kEntry].key;
  const bool made = kind == "output";
  if (backward) return made ? Slot::kGradInput : Slot::kGradOutput;
  return made ? Slot::kOutput : Slot::kInput;
}

void MsprobeReader::TakeTensor(const Fields& fields) {
  if (levels_[0].key != "data") return;
  const bool is_tensor = !fields.dtype.empty();
  if (!is_tensor && !fields.value) return;
  const MsprobeName name = ParseMsprobeName(levels_[1].key);
  DumpedTensor dumped;
  OpName& op = dumped.op;
  ComparedTensor& tensor = dumped.tensor;
  op.name = name.name;
  op.type = name.type;
  op.dtype = DtypeOf(fields.dtype);
  op.logical_shape = fields.shape;
  tensor.elements = fields.shape.empty() ? 1 : Elements(fields.shape);
  tensor.slot = SlotHere(name.backward);
  if (name.parameters_grad || levels_[kEntry].key == "parameters") {
    const std::string& parameter =
        levels_[name.parameters_grad ? kEntry : kKind].key;
    op.name = name.name + '.' + parameter;
    op.type = "Parameter";
    tensor.slot = name.parameters_grad ? Slot::kGradInput : Slot::kParameter;
  } else if (name.backward) {
    op.type += "Backward";
  }
  tensor.statistics = fields.statistics;
  if (!is_tensor) {
    tensor.statistics->min = tensor.statistics->max = fields.value;
  }
  Keep(std::move(dumped), fields);
  if (name.backward || name.parameters_grad) backward_end_ = tensors_.size();
}

void MsprobeReader::Keep(DumpedTensor dumped, const Fields& fields) {
  const TensorStatistics& s = *dumped.tensor.statistics;
  if (!s.min && !s.max && !s.mean && !s.norm && !s.checksum &&
      fields.data_name.empty()) {
    ++empty_;
    return;
  }
  if (tensors_.size() == kDumpTensors) {
    too_many_ = true;
    return;
  }
  CountSpecials(&dumped.tensor);
  tensors_.push_back({std::move(dumped), fields.data_name});
}

}  // namespace nanwatch
