// Complaint: what is wrong with a message, in words for whoever sent it.

#ifndef NANWATCH_WIRE_COMPLAINT_H_
#define NANWATCH_WIRE_COMPLAINT_H_

#include <optional>
#include <string>

namespace nanwatch {

struct Complaint {
  std::string message;  // what, where (column, row) and what to do
  std::string limit;    // name in model/limits.h; empty: not a limit
};

// nullopt: nothing is wrong. Readers in this folder return it; what they have
// written until then is unspecified.
using Verdict = std::optional<Complaint>;

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_COMPLAINT_H_
