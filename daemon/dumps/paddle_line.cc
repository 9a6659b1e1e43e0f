#include "dumps/paddle_line.h"

#include <string>

#include "dumps/number_text.h"

namespace nanwatch {
namespace {

// It prints "%e": 7 digits.
constexpr double kRoundedShare = 5e-7;

// What stands behind "key=", to the next comma, bracket or the end.
std::optional<std::string_view> Behind(std::string_view line,
                                       std::string_view key) {
  for (size_t at = line.find(key); at != std::string_view::npos;
       at = line.find(key, at + 1)) {
    const size_t equals = at + key.size();
    // "max" is no part of "argmax".
    const bool whole = at == 0 || line[at - 1] == ' ' || line[at - 1] == '[';
    if (!whole || equals >= line.size() || line[equals] != '=') continue;
    const std::string_view rest = line.substr(equals + 1);
    return rest.substr(0, rest.find_first_of(",] \r"));
  }
  return std::nullopt;
}

std::optional<double> NumberAt(std::string_view line, std::string_view key) {
  const std::optional<std::string_view> text = Behind(line, key);
  return text ? NumberIn(*text) : std::nullopt;
}

std::optional<uint64_t> CountOf(std::string_view line, std::string_view key) {
  const std::optional<double> number = NumberAt(line, key);
  if (!number || !(*number >= 0) || *number > 0x1p53) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

Dtype PaddleDtype(std::string_view name) {
  for (const Dtype dtype :
       {Dtype::kFp64, Dtype::kFp32, Dtype::kFp16, Dtype::kBf16}) {
    if (name == Name(dtype)) return dtype;
  }
  return Dtype::kUnknown;
}

}  // namespace

std::optional<DumpedTensor> ReadPaddleLine(std::string_view line) {
  const auto op = Behind(line, "op"), dtype = Behind(line, "dtype");
  const auto name = Behind(line, "tensor");
  const auto elements = CountOf(line, "numel");
  if (!op || op->empty() || !dtype || !elements) return std::nullopt;
  DumpedTensor dumped;
  ComparedTensor& tensor = dumped.tensor;
  tensor.elements = *elements;
  tensor.nan = CountOf(line, "num_nan");
  tensor.inf = CountOf(line, "num_inf");
  tensor.statistics = TensorStatistics{.min = NumberAt(line, "min"),
                                       .max = NumberAt(line, "max"),
                                       .mean = NumberAt(line, "mean"),
                                       .rounded_share = kRoundedShare};
  // The mean is the last: the line was cut off.
  if (!tensor.statistics->mean) return std::nullopt;
  dumped.op.type = *op;
  // Eager tensors have no names; ops of one type are told apart by their order.
  dumped.op.name = name && !name->empty() ? *name : *op;
  dumped.op.dtype = PaddleDtype(*dtype);
  dumped.op.logical_shape = {static_cast<int64_t>(*elements)};
  return dumped;
}

}  // namespace nanwatch
