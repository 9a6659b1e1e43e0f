// Sentences on the place where two runs part.

#ifndef NANWATCH_APP_DIVERGENCE_WORDS_H_
#define NANWATCH_APP_DIVERGENCE_WORDS_H_

#include <string>

#include "compare/comparison.h"

namespace nanwatch {

// A share of a norm: "0.0013".
std::string Share(double share);
// "its output".
std::string SlotWords(const Divergence& d);
// "blocks.1.norm (LayerNorm, fp32)".
std::string OpWords(const Divergence& d);
// Says how far it lies apart, and what is usual.
std::string HowFar(const Divergence& d);
// Says what parts them, in a sentence or two. B is who leaves.
std::string WhatDiverges(const Divergence& d, const Comparison& c);
std::string WhatToDo(const Divergence& d);

}  // namespace nanwatch

#endif  // NANWATCH_APP_DIVERGENCE_WORDS_H_
