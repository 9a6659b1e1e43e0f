// repeat: the same program several times, and what of it is not the same each
// time.

#ifndef NANWATCH_CLI_REPEAT_H_
#define NANWATCH_CLI_REPEAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/style.h"
#include "compare/floors.h"
#include "compare/unsteady_ops.h"

namespace nanwatch {

// What is not the same, and in how many repeats.
struct Seen {
  Unsteady what;
  int64_t repeats = 0;
};

struct Repeats {
  int64_t count = 0;  // beside the first run
  std::vector<Seen> seen;
  std::optional<int64_t> step;  // the first at which a repeat differs
  size_t tensors = 0;           // compared, of all repeats
  size_t losses = 0;
  std::vector<std::string> runs;
  std::string floors_file;  // empty: none was written

  bool differs() const { return step.has_value(); }
};

std::string RepeatsText(const Repeats& repeats, const Style& style);
std::string RepeatsJson(const Repeats& repeats);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_REPEAT_H_
