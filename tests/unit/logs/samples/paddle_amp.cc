// Paddle's GradScaler, PaddleNLP's skipped steps: sample lines in its texture,
// and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"the old scale and a ratio",
     "Found inf or nan, current scale is: 4096.0, decrease to: 4096.0*0.5\n"
     "[2024-09-01 10:00:00,511] [ WARNING] - optimizer not run, scale_before: "
     "2048.0, scale_after: 1024.0",
     "overflow before=4096 loss_scale=2048\n"
     "overflow before=2048 loss_scale=1024"},
    {"glued",
     "Found inf or nan, current scale is: 64.0, decrease to: 64.0*0.5Found inf "
     "or nan, current scale is: 64.0, decrease to: 64.0*0.5",
     "overflow before=64\noverflow before=64 loss_scale=32"},
    {"torn",
     "optimizer not run, scale_before: 2048.0, scale_after: 102\n"
     "Found inf or nan, current scale is: 40",
     "overflow before=2048"},
};

}  // namespace

const SampleTable kPaddleAmpSamples = {"paddle_amp", kLines};

}  // namespace nanwatch
