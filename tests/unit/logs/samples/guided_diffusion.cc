// OpenAI improved-diffusion, guided-diffusion: sample lines in its texture, and
// what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a table",
     "----------------------------\n"
     "| grad_norm     | 0.342    |\n"
     "| lg_loss_scale | 20       |\n"
     "| loss          | 0.0123   |\n"
     "| loss_q0       | 0.0301   |\n"
     "| param_norm    | 303      |\n"
     "| samples       | 1.28e+04 |\n"
     "| step          | 100      |\n"
     "----------------------------",
     "step=100 loss=0.0123 loss_scale=1048576 grad_norm=0.342 param_norm=303 "
     "consumed_samples=12800"},
    {"an overflow, then a table whose scale is a mean",
     "Found NaN, decreased lg_loss_scale to 3.0\n"
     "Found NaN, decreased lg_loss_scale to -2000.0\n"
     "--------------------------\n"
     "| lg_loss_scale | 20     |\n"
     "| loss          | nan    |\n"
     "| samples       | 8      |\n"
     "| step          | 1      |\n"
     "--------------------------",
     "overflow loss_scale=8\noverflow loss_scale=0\n"
     "step=1 loss=nan consumed_samples=8"},
    {"another program's table; torn",
     "--------------------------\n"
     "| loss          | 0.5    |\n"
     "| time/fps      | 311    |\n"
     "--------------------------\n"
     "| loss          | 0.0123\n"
     "| samples       | 8      |\n"
     "| step          | 1      |\n"
     "--------------------------\n"
     "Found NaN, decreased lg_loss_scale to 1",
     ""},
};

}  // namespace

const SampleTable kGuidedDiffusionSamples = {"guided_diffusion", kLines};

}  // namespace nanwatch
