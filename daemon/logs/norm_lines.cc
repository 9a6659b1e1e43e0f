#include "logs/norm_lines.h"

#include <cmath>

namespace nanwatch {

void NormLines::Take(const LogFact& fact, uint64_t line) {
  if (fact.kind == LogFact::Kind::kNorm) {
    seen_ = true;
    const double norm = fact[StepField::kGradNorm];
    squares_ += norm * norm;
    has_norm_ = true;
    return;
  }
  Flush();
  const bool waits = seen_ && fact.kind == LogFact::Kind::kProgress &&
                     fact.has(StepField::kLoss) &&
                     !fact.has(StepField::kGradNorm);
  if (!waits) {
    sink_(fact, line);
    return;
  }
  waiting_ = fact;
  line_ = line;
}

void NormLines::Flush() {
  if (waiting_) {
    if (has_norm_) waiting_->Set(StepField::kGradNorm, std::sqrt(squares_));
    sink_(*waiting_, line_);
    waiting_.reset();
  }
  squares_ = 0;
  has_norm_ = false;
}

}  // namespace nanwatch
