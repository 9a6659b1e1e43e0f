// What programs print of losses that they leave out: sample lines in their
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"another value in its place", "WARNING: got a nan loss, setting loss to 0",
     "lost loss"},
    {"a batch", "2026-01-02 10:00:00 loss is NaN, skipping this batch",
     "lost loss"},
    {"its kind first", "Non-finite loss found: ignoring batch 17", "lost loss"},
    {"a term of it",
     "WARNING:root:fape loss is NaN. Skipping...\n10:00:00 - kl_loss is nan, "
     "skipped\n12:00 Training loss is nan, skipping\nSkipping, as loss is NaN",
     "lost loss: fape\nlost loss: kl_loss\nlost loss\nlost loss"},
    {"0 in its place, and one that is refused",
     "WARNING:root:loss is NaN. Returning 0 loss...\n"
     "10:00:00 (a:591) WARNING: loss (=nan) is not correct",
     "lost loss\nlost loss"},
    {"what is returned otherwise", "loss is nan, returning early", ""},
    {"a setting", "skip_nan_loss=True, skipping batches if the loss is nan",
     ""},
    {"gradients", "nan loss or gradients, skipping update", ""},
    {"an evaluation", "skipping validation: loss is nan", ""},
    {"a count", "skipped 3 batches with nan loss in total", ""},
    {"none", "no nan loss, no batch skipped", ""},
};

}  // namespace

const SampleTable kLostLossesSamples = {"lost_losses", kLines};

}  // namespace nanwatch
