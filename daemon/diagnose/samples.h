// The data that a step trained on, said in the verdict on it.

#ifndef NANWATCH_DIAGNOSE_SAMPLES_H_
#define NANWATCH_DIAGNOSE_SAMPLES_H_

#include "model/diagnosis.h"
#include "model/step.h"

namespace nanwatch {

// True of causes that the data of their first step may have brought.
bool MayComeFromData(Cause cause);
// Adds what to leave out to a cause that began with these data.
void SaySamples(const SampleRange& samples, CauseVerdict* cause);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_SAMPLES_H_
