// NpyPlace: what the path of a .npy file says of its tensor.

#ifndef NANWATCH_DUMPS_NPY_PLACE_H_
#define NANWATCH_DUMPS_NPY_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/op.h"

namespace nanwatch {

struct NpyPlace {
  int64_t step = 0;
  int64_t rank = 0;
  std::string name;
  std::string type;  // of the op; empty: not said
  Slot slot = Slot::kOutput;
  int64_t index = 0;  // of several inputs or outputs of one op
  // When it was written; dumps of devices alone say it.
  std::optional<int64_t> time;
  // Of a device's op; -1: not said.
  int64_t task = -1;
  int64_t stream = -1;
};

// Reads TYPE.OP.TASK.STREAM.TIME.input.0.FORMAT.npy (CANN, MindSpore, in a
// folder that is called as the step is), OP.0.TIME.npy (TensorFlow's debugger)
// and API.0.forward.input.0.npy (msprobe); of any other the name is the path.
NpyPlace PlaceOfNpy(std::string_view path);
// The order in which tensors of a step were made, as far as it is said; else
// that of their names, "layer2" before "layer10".
bool IsBefore(const NpyPlace& a, const NpyPlace& b);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_NPY_PLACE_H_
