// Headline: the verdict on a run in one sentence, also when it is healthy.

#ifndef NANWATCH_TESTS_JUDGE_REFERENCE_HEADLINE_H_
#define NANWATCH_TESTS_JUDGE_REFERENCE_HEADLINE_H_

#include <string>

#include "tests/judge/reference/causes.h"

namespace nanwatch::reference {

// What is alerted still has another cause by now, an established one: that is
// said, and not what was thought before.
bool IsKnownBetter(const Case& c, const Diagnosis& diagnosis);

std::string Headline(const Case& c, const Diagnosis& diagnosis);

}  // namespace nanwatch::reference

#endif  // NANWATCH_TESTS_JUDGE_REFERENCE_HEADLINE_H_
