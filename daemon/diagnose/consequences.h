// Ops that are bad because of one that was bad before them: a cause explains
// what is found of them, too.

#ifndef NANWATCH_DIAGNOSE_CONSEQUENCES_H_
#define NANWATCH_DIAGNOSE_CONSEQUENCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/causes.h"

namespace nanwatch {

// Names of the ops that were bad at `step` or since, but for those that are
// known to do no harm.
std::vector<std::string> BadSince(const Case& c, int64_t step);

// Of a model with more ops than the evidence has room for: adds those that are
// found bad at `step` or since, and of which it says nothing.
void AddUnlisted(const Case& c, int64_t step, std::vector<std::string>* names);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_CONSEQUENCES_H_
