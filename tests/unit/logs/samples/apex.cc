// NVIDIA Apex AMP: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"two blanks, scaler named",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "32768.0",
     "overflow loss_scale=32768 scaler=0"},
    {"a copy's one blank, below 1",
     "Gradient overflow. Skipping step, loss scaler 2 reducing loss scale to "
     "6.103515625e-05",
     "overflow loss_scale=6.103515625e-05 scaler=2"},
    {"NVIDIA BERT's own, with its rank",
     "Rank 5 :: Gradient overflow.  Skipping step, reducing loss scale to "
     "1048576.0",
     "overflow loss_scale=1048576 rank=5"},
    {"static scale", "Gradient overflow, skipping step", "overflow"},
    {"three ranks glued",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "512.0Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale"
     " to 512.0Gradient overflow.  Skipping step, loss scaler 1 reducing loss "
     "scale to 64.0",
     "overflow loss_scale=512 scaler=0\n"
     "overflow loss_scale=512 scaler=0\n"
     "overflow loss_scale=64 scaler=1"},
    {"glued to a step line of its program",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "8192.0Epoch: [3][ 20/1000]",
     "overflow loss_scale=8192 scaler=0"},
    {"torn within the copy's number",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "16384.0\n"
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "1638\n"
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
     "81",
     "overflow loss_scale=16384 scaler=0"},
    {"torn before the number", "Gradient overflow.  Skipping step, loss sc",
     ""},
};

}  // namespace

const SampleTable kApexSamples = {"apex", kLines};

}  // namespace nanwatch
