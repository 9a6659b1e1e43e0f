// Headline: the verdict on a run in one sentence, also when it is healthy.

#ifndef NANWATCH_DIAGNOSE_HEADLINE_H_
#define NANWATCH_DIAGNOSE_HEADLINE_H_

#include <string>

#include "diagnose/causes.h"

namespace nanwatch {

std::string Headline(const Case& c, const Diagnosis& diagnosis);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_HEADLINE_H_
