// FP16_Optimizer (first Megatron-LM, tacotron2, Apex contrib): sample lines in
// its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"attempted scale alone",
     "OVERFLOW! Skipping step. Attempted loss scale: 4294967296",
     "overflow before=4294967296"},
    {"both scales",
     "OVERFLOW! Skipping step. Attempted loss scale: 65536.0, reducing to "
     "32768.0",
     "overflow before=65536 loss_scale=32768"},
    {"two lines, on two ranks, one glued",
     "Grad overflow on iteration  12\n"
     "Using dynamic loss scale of  65536\n"
     "Grad overflow on iteration  12\n"
     "Using dynamic loss scale of  65536Grad overflow on iteration  13\n"
     "Grad overflow on iteration  13\n"
     "Using dynamic loss scale of  32768.0\n"
     "Using dynamic loss scale of  32768.0",
     "overflow step=12 before=65536\noverflow step=13 before=32768"},
    {"torn scale",
     "OVERFLOW! Skipping step. Attempted loss scale: 65536.0\n"
     "OVERFLOW! Skipping step. Attempted loss scale: 3276",
     "overflow before=65536"},
};

}  // namespace

const SampleTable kFp16OptimizerSamples = {"fp16_optimizer", kLines};

}  // namespace nanwatch
