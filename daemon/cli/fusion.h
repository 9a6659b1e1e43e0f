// fusion: a training with the compiler's fused kernels and without, and the
// smallest region of it whose fused kernel computes something else.

#ifndef NANWATCH_CLI_FUSION_H_
#define NANWATCH_CLI_FUSION_H_

#include <optional>
#include <string>

#include "cli/style.h"
#include "compare/comparison.h"

namespace nanwatch {

struct Fused {
  Comparison whole;  // a: without fusion
  // That whole.first is in; "model": of what is compiled nothing is seen but
  // the training's weights, gradients and losses.
  std::string region;
  // The modules of the region, compiled one by one; absent: it has none.
  std::optional<Comparison> parts;
  std::string precision;  // of the weights, where it is not fp32's

  // Something was compiled that the hook sees, or that changes a bit.
  bool compiled() const;
  // The region or the module that is named; null: none differs.
  const Divergence* first() const;
  // It is one of the region's modules.
  bool is_part() const;
};

std::string FusedText(const Fused& fused, const Style& style);
std::string FusedJson(const Fused& fused);

struct Command;  // cli/option.h
Command FusionCommand(const std::string* address);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_FUSION_H_
