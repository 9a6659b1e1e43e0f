#include "float_status.h"

#include <cfenv>

namespace word2vec {

void FloatStatus::BeginOp() { std::feclearexcept(FE_ALL_EXCEPT); }

bool FloatStatus::EndOp() {
  // Underflow and inexact are no overflow on the device either.
  const bool raised =
      std::fetestexcept(FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID) != 0;
  if (raised) words_[0] = 1;
  return raised;
}

}  // namespace word2vec
