// NormTables: a log that prints a norm for each parameter, once or again and
// again, as one of the two runs that are compared.

#ifndef NANWATCH_DUMPS_NORM_TABLES_H_
#define NANWATCH_DUMPS_NORM_TABLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/compared_run.h"
#include "dumps/norm_line.h"

namespace nanwatch {

class NormTables {
 public:
  // A line of the log.
  Status Take(std::string_view line);
  // Call once, last. Of gradients and other norms the gradients count, in the
  // order in which a backward pass makes them. A run without tensors: there
  // are fewer than four parameters.
  Result<ComparedRun> Finish();

 private:
  struct Printed {
    std::string name;
    int64_t table = 0;  // a name that comes again begins the next one
    double norm = 0;
  };
  struct OfThing {
    std::vector<Printed> printed;
    std::set<std::string, std::less<>> names;  // of the open table
    int64_t table = 0;
  };

  std::array<OfThing, 3> things_;  // by NormedThing
  size_t count_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DUMPS_NORM_TABLES_H_
