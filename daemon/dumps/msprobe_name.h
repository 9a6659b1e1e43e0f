// MsprobeName: what the name of an entry of msprobe's dump.json says:
// "Module.blocks.0.fc.Linear.forward.0", "Functional.gelu.3.backward".

#ifndef NANWATCH_DUMPS_MSPROBE_NAME_H_
#define NANWATCH_DUMPS_MSPROBE_NAME_H_

#include <string>
#include <string_view>

namespace nanwatch {

struct MsprobeName {
  // A module's path, as in its program ("blocks.0.fc"); a function with the
  // number of its call ("Functional.gelu.3").
  std::string name;
  std::string type;  // the module's class ("Linear"), the function ("gelu")
  bool backward = false;
  bool parameters_grad = false;  // the gradients of a module's parameters
};

// A name of another shape is a name whole.
MsprobeName ParseMsprobeName(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_MSPROBE_NAME_H_
