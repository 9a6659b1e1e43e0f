// Trouble that comes again later than an incident is opened again: that of a
// job which is started anew from a checkpoint and meets what it died of, and a
// low scale's probes. Each is one incident, re-opened.

#ifndef NANWATCH_APP_REOPENED_H_
#define NANWATCH_APP_REOPENED_H_

#include <memory>
#include <span>

#include "model/snapshot.h"

namespace nanwatch {

// Takes from one attempt the troubles of its loss scale that a later one of the
// same cause repeats: that one stands, as old as the first.
void ReopenProbes(RunView* attempt);

// Takes from each of `attempts`, which are of one run and in their order, the
// incidents that a later one has again where it had not come much farther: it
// stands in the last that has it, as old as the first.
void ReopenAfterRestarts(std::span<const std::shared_ptr<RunView>> attempts);

}  // namespace nanwatch

#endif  // NANWATCH_APP_REOPENED_H_
