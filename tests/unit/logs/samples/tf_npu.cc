// TensorFlow on Ascend (loss scale lines): sample lines in its texture, and
// what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"ranks print into each other",
     "loss_scale: loss_scale:[65536.0] \nloss_scale:[32768.0] loss_scale:[163",
     "scale loss_scale=65536\nscale loss_scale=32768"},
};

}  // namespace

const SampleTable kTfNpuSamples = {"tf_npu", kLines};

}  // namespace nanwatch
