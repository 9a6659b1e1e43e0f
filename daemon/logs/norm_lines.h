// NormLines: gives a step line the gradient norm that the lines below it show,
// one a layer or one of all: "layers.2.weight grad_norm 0.31".

#ifndef NANWATCH_LOGS_NORM_LINES_H_
#define NANWATCH_LOGS_NORM_LINES_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "logs/fact.h"

namespace nanwatch {

// Appends a line's norm.
inline void AddNorm(double norm, FactList* facts) {
  AddFact(LogFact::Kind::kNorm, 0, facts).Set(StepField::kGradNorm, norm);
}

class NormLines {
 public:
  explicit NormLines(FactSink sink) : sink_(std::move(sink)) {}

  // Passes facts on in their order. Once a log has shown norms in lines of
  // their own, a step line without one waits for the lines below it; their
  // squares add up.
  void Take(const LogFact& fact, uint64_t line);
  // Nothing more follows, or not soon: passes on what waits.
  void Flush();

 private:
  const FactSink sink_;
  bool seen_ = false;  // norms in lines of their own
  std::optional<LogFact> waiting_;
  uint64_t line_ = 0;      // of what waits
  double squares_ = 0;     // of the norms below it
  bool has_norm_ = false;  // one stood below it
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NORM_LINES_H_
