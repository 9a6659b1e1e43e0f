// NormLine: a line of a log that prints the norm of one parameter, or of its
// gradient: "[rank0] decoder.layers.3.mlp.weight grad_norm=0.31".

#ifndef NANWATCH_DUMPS_NORM_LINE_H_
#define NANWATCH_DUMPS_NORM_LINE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace nanwatch {

// What of the parameter a line says that it prints.
enum class NormedThing : uint8_t { kGradient, kWeight, kUnknown };

struct NormLine {
  std::string_view name;  // into the line
  double norm = 0;
  NormedThing thing = NormedThing::kUnknown;
};

// Reads "NAME: NUMBER" and "NAME ... norm NUMBER", where NAME is a path like a
// parameter's; nullopt: the line is none of these.
std::optional<NormLine> ReadNormLine(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_NORM_LINE_H_
