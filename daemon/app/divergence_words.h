// Sentences on the place where two runs part.

#ifndef NANWATCH_APP_DIVERGENCE_WORDS_H_
#define NANWATCH_APP_DIVERGENCE_WORDS_H_

#include <string>

#include "compare/comparison.h"

namespace nanwatch {

// Says what parts them, in a sentence or two. B is who leaves.
std::string WhatDiverges(const Divergence& d, const Comparison& c);
std::string WhatToDo(const Divergence& d);

}  // namespace nanwatch

#endif  // NANWATCH_APP_DIVERGENCE_WORDS_H_
