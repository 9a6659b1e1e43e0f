#include "compare/smooth_ops.h"

#include <algorithm>

namespace nanwatch {
namespace {

// As PyTorch and those that follow it call them. Keras's layers of the same
// kinds are not here: an activation may be one of their arguments.
constexpr std::string_view kSmooth[] = {
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Dropout",
    "Embedding",
    "Flatten",
    "GELU",
    "GRU",
    "GroupNorm",
    "Identity",
    "LSTM",
    "LayerNorm",
    "Linear",
    "RMSNorm",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
};

// A row of the backward pass, and one of what all gave that read the tensor.
constexpr std::string_view kEnds[] = {"BackwardSum", "Backward"};

// Of those: they normalize.
constexpr std::string_view kNormalizing[] = {
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm",
};
constexpr std::string_view kRecurrent[] = {"GRU", "LSTM", "RNN"};

std::string_view OfForward(std::string_view type) {
  for (const std::string_view end : kEnds) {
    if (type.ends_with(end)) return type.substr(0, type.size() - end.size());
  }
  return type;
}

}  // namespace

bool IsSmooth(std::string_view type) {
  return std::ranges::binary_search(kSmooth, OfForward(type));
}

bool GoesThroughTime(std::string_view type) {
  return std::ranges::binary_search(kRecurrent, OfForward(type));
}

RoundingsOf RoundingsOfType(std::string_view type) {
  if (!std::ranges::binary_search(kSmooth, type) || GoesThroughTime(type)) {
    return RoundingsOf::kUnknown;
  }
  return std::ranges::binary_search(kNormalizing, type) ? RoundingsOf::kResult
                                                        : RoundingsOf::kAll;
}

}  // namespace nanwatch
