// Colossal-AI, and InternLM's copy of it: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"down and up",
     "[05/02/23 10:00:00] INFO     colossalai - colossalai - INFO: Overflow "
     "occurs, the loss scale is adjusted to 32768.0\n"
     "INFO     colossalai - colossalai - INFO: Found overflow. Skip step\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to "
     "65536.0",
     "overflow loss_scale=32768\nscale loss_scale=65536"},
    {"the optimizer's line alone",
     "colossalai - colossalai - INFO: Found overflow. Skip step", "overflow"},
    {"torn", "Overflow occurs, the loss scale is adjusted to", ""},
    {"cut before the point: the next scale, but for the first",
     "Overflow occurs, the loss scale is adjusted to 6553\n"
     "Overflow occurs, the loss scale is adjusted to 65536.0\n"
     "Overflow occurs, the loss scale is adjusted to 3276\n8.0\n"
     "Overflow occurs, the loss scale is adjusted to 327\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to 65",
     "overflow\noverflow loss_scale=65536\noverflow loss_scale=32768\n"
     "scale loss_scale=65536"},
    {"limits that are integers; the word on an overflow is never doubted",
     "Overflow occurs, the loss scale is adjusted to 2.0\n"
     "Overflow occurs, the loss scale is adjusted to 1\n"
     "Overflow occurs, the loss scale is adjusted to 1\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to "
     "8388608.0\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to "
     "16777216\n"
     "No overflow for consecutive 1000 steps, the loss scale is adjusted to 5\n"
     "Overflow occurs, the loss scale is adjusted to 3\n"
     "Overflow occurs, the loss scale is adjusted to 3",
     "overflow loss_scale=2\noverflow loss_scale=1\noverflow loss_scale=1\n"
     "scale loss_scale=8388608\nscale loss_scale=16777216\noverflow\n"
     "overflow loss_scale=3"},
    {"what is told twice is no copy that was cut",
     "Overflow occurs, the loss scale is adjusted to 16.0\n"
     "Overflow occurs, the loss scale is adjusted to 1\n"
     "Overflow occurs, the loss scale is adjusted to 1",
     "overflow loss_scale=16\noverflow loss_scale=1"},
    {"InternLM says it twice",
     "WARNING hybrid_zero_optim.py:500 in step -- Overflow occurs, please "
     "check it.\n"
     "INFO dynamic_grad_scaler.py:55 -- Overflow occurs, the loss scale is "
     "adjusted to 32768.0",
     "overflow loss_scale=32768"},
};

}  // namespace

const SampleTable kColossalAiSamples = {"colossalai", kLines};

}  // namespace nanwatch
