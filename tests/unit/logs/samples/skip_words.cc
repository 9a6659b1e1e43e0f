// What programs print of updates that they leave out: sample lines in their
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a warning with a count",
     "WARNING:root:non-finite gradients detected, skipping update (3 so far)",
     "overflow skipped"},
    {"the reason last", "Skipping optimizer step: inf/nan in grads",
     "overflow skipped"},
    {"a scaler's", "GradScaler: found inf in gradients, new scale 32768",
     "overflow loss_scale=32768 skipped"},
    {"flashlight's scaler",
     "I0211 11:14:20.0 4471 Train.cpp:1021] AMP: Scale factor decreased. New "
     "value:\t0.0625\n"
     "I0211 11:14:21.0 4471 Train.cpp:1070] AMP: Scale factor doubled. New "
     "value:\t0.125",
     "overflow loss_scale=0.0625 skipped\nscale loss_scale=0.125"},
    {"a tag", "[amp] inf grads, step skipped", "overflow skipped"},
    {"a norm", "Grad norm is nan. Do not update model!", "overflow skipped"},
    {"a setting", "skip_nan_gradients=True", ""},
    {"a logger's word", "INFO skipping gradient checkpointing of layer 3", ""},
    {"a column", "step 3 grad_norm inf skipped: 1", ""},
    {"a promise", "Updates will be skipped if gradients are not finite", ""},
    {"a batch", "skipping sample 12: inf duration", ""},
    {"none", "no inf found in gradients, nothing skipped", ""},
    {"an evaluation", "skipping validation: gradients are nan", ""},
};

}  // namespace

const SampleTable kSkipWordsSamples = {"skip_words", kLines};

}  // namespace nanwatch
