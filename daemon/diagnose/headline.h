// Headline: the verdict on a run in one sentence, also when it is healthy.

#ifndef NANWATCH_DIAGNOSE_HEADLINE_H_
#define NANWATCH_DIAGNOSE_HEADLINE_H_

#include <string>

#include "diagnose/causes.h"

namespace nanwatch {

// What is alerted still has another cause by now, an established one: that is
// said, and not what was thought before.
bool IsKnownBetter(const Case& c, const Diagnosis& diagnosis);

std::string Headline(const Case& c, const Diagnosis& diagnosis);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_HEADLINE_H_
