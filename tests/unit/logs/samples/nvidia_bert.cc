// NVIDIA BERT (MLPerf): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a skipped update, then a step",
     "0: {'training_steps': 6, 'average_loss': 5.75, 'step_loss': 5.3828125, "
     "'learning_rate': 0.0004, 'seq/s': 110.86, 'global_steps': 0, "
     "'samples_trained': 0, 'skipped_steps': 1, 'timestamp': 1593.11}\n"
     "0: {'training_steps': 12, 'average_loss': nan, 'step_loss': nan, "
     "'learning_rate': 3.5e-05, 'seq/s': 110.86, 'global_steps': 1, "
     "'samples_trained': 288, 'skipped_steps': 1, 'timestamp': 1594.11}\n"
     "0: {'global_steps': 1, 'eval_loss': 1.5, 'eval_mlm_accuracy': 0.7}",
     "step=0 loss=5.75 learning_rate=0.0004 skipped_total=1\n"
     "step=1 loss=nan learning_rate=3.5e-05 skipped_total=1"},
    {"torn within the counter",
     "0: {'training_steps': 6, 'average_loss': 5.75, 'step_loss': 5.3828125, "
     "'learning_rate': 0.0004, 'seq/s': 110.86, 'global_steps': 10, "
     "'samples_trained': 0, 'skipped_steps': 1",
     ""},
};

}  // namespace

const SampleTable kNvidiaBertSamples = {"nvidia_bert", kLines};

}  // namespace nanwatch
