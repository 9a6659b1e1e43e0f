// What is said of a loss that is NaN or infinite, where no op is known.

#ifndef NANWATCH_DIAGNOSE_NAN_LOSS_H_
#define NANWATCH_DIAGNOSE_NAN_LOSS_H_

#include <string>

#include "diagnose/facts.h"
#include "model/tense.h"

namespace nanwatch {

// Returns " on rank 3 (node-3, npu3)"; nothing where there is one rank only. A
// log does not say how many there are.
std::string OnRank(const RunEvidence& e);

// Returns the streak of overflows that was there before the loss was not finite
// and lasts: it began with that. Null: there is none.
const Finding* StreakBefore(const Facts& f);

// Returns the term that was not finite first, where SentenceOfLoss() does not
// name it; empty: not known.
std::string OtherTerm(const Facts& f);

Tensed SentenceOfLoss(const Facts& f);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_NAN_LOSS_H_
