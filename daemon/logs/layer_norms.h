// LayerNorms: the gradient norm of a line that shows those of layers, and not
// the whole: "grad_norm/wte=0.3 grad_norm/wpe=0.4", "fc1.weight.grad_norm:
// 0.3".

#ifndef NANWATCH_LOGS_LAYER_NORMS_H_
#define NANWATCH_LOGS_LAYER_NORMS_H_

#include <cmath>
#include <optional>
#include <string_view>

namespace nanwatch {

class LayerNorms {
 public:
  void Begin() { *this = {}; }
  // What stands before a sign in a line, and behind it: a layer's name ends the
  // one, and its norm begins the other; or nothing of it is one. Returns
  // whether it is.
  bool Look(std::string_view before, std::string_view behind);
  // Of the layers together: the root of their squares.
  std::optional<double> norm() const {
    return layers_ > 0 ? std::optional(std::sqrt(squares_)) : std::nullopt;
  }

 private:
  int layers_ = 0;
  double squares_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LAYER_NORMS_H_
