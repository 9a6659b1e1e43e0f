// torch_npu GradScaler (Ascend): sample lines in its texture, and what they
// say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"two lines",
     "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to "
     "32768.0\nLoss scaler increasing loss scale to 65536.0",
     "overflow loss_scale=32768\nscale loss_scale=65536"},
    {"ranks glued",
     "Gradient overflow. Skipping stepGradient overflow. Skipping step\n"
     "Loss scaler reducing loss scale to 0.0Loss scaler reducing loss scale to "
     "0.0",
     "overflow loss_scale=0\noverflow loss_scale=0"},
    {"torn",
     "Loss scaler reducing loss scale to 16384.0\n"
     "Loss scaler reducing loss scale to 163\n"
     "Loss scaler reducing loss sca",
     "overflow loss_scale=16384"},
};

}  // namespace

const SampleTable kTorchNpuSamples = {"torch_npu", kLines};

}  // namespace nanwatch
