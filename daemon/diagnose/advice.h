// What to do about each cause, as data; a framework's switches are named as the
// framework names them.

#ifndef NANWATCH_DIAGNOSE_ADVICE_H_
#define NANWATCH_DIAGNOSE_ADVICE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "model/diagnosis.h"

namespace nanwatch {

// Where the run must stand for a piece of advice to make sense.
enum class When : uint8_t {
  kAlways,
  kNow,           // it goes on
  kOver,          // it is found no more
  kCured,         // the run takes the cure already
  kSick,          // it does not
  kUnsure,        // nor is the cause established
  kRare,          // overflows are as rare as the scaler's probing makes them
  kOften,         // they are not
  kFixed,         // nothing lowers the scale at which they overflow
  kLow,           // updates go through at too low a scale
  kStuck,         // none goes through at the lowest scale
  kSevere,        // critical, and no weight is known to be spoilt, or sound
  kSpoilt,        // so, and an update that was not finite was applied
  kOutlived,      // finite losses after it show that no weight is spoilt
  kNeverFinite,   // no loss ever was
  kMild,          // a warning at most: it may pass
  kPasses,        // so, and it has not lasted: a spike
  kStays,         // so, and it has: a level, a slow climb
  kNormStays,     // so, of the gradients alone
  kFromStart,     // so, of a loss that never was of a usual size
  kGrows,         // so, of gradients that grow little by little
  kOps,           // op statuses were collected
  kNoOps,         // they were not: a log, or a client that sends none
  kOfOp,          // so, and the named op made it
  kOfFp32Op,      // so, in fp32
  kOfOtherOp,     // so, and not in fp32, as far as is known
  kBroughtIn,     // so, and the data brought it in
  kMissing,       // somebody is not heard
  kScaled,        // there is a loss scaler, or a format that needs one
  kScaledNow,     // so, it goes on, and no overflow spoils the weights
  kNotScaled,     // there is none
  kDropped,       // all are heard, and had to leave records out
  kOfModel,       // all of the model is updated wrongly, no part of it alone
  kOfLoss,        // the trouble is one of the loss
  kOfEvaluation,  // it is one of an evaluation's
  kOfTerm,        // it is one of a term of the loss
  kOfLayer,       // it is one of a layer
  kOfScore,       // it is one of a score
  kOfBlown,       // it is one of an evaluation's loss that is far up
  kOfLatents,     // it is one of an autoencoder's latents
  kOfRival,       // it is one of two losses against each other
  kOfData,        // it is one of the order of data
  kOfNumber,      // it is a norm or a rate that is not finite
  kOfSkips,       // no update is seen to be made
  kOfZeroLoss,    // it is one of a loss that became 0 at once
  kOfZeroNorm,    // it is one of a norm that is always 0
  kOfNorm,        // the gradients went, all of them
  kOfLevel,  // a loss or a norm left its level, and it is no more than that
};

struct Advice {
  Cause cause;
  std::string_view framework;  // of framework.cc; empty: any
  // "{back}", "{Back}" and "{data}": see WithWayBack().
  std::string_view sentence;
  When when = When::kAlways;
};

// Returns the advice on padding, start-up, range overflow, collapse, underflow,
// misuse, and on scales of layers.
std::span<const Advice> AdviceOnScales();
// Returns the advice on all other causes.
std::span<const Advice> AdviceOnValues();

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_ADVICE_H_
