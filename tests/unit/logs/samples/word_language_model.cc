// PyTorch's word_language_model, Transformer-XL: sample lines in their texture,
// and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"batches of two epochs",
     "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 10.04 | loss  "
     "7.50 | ppl  1808.04\n"
     "| epoch   1 |   400/ 2983 batches | lr 20.00 | ms/batch 10.04 | loss   "
     "nan | ppl      nan\n"
     "| end of epoch   1 | time: 25.42s | valid loss  5.67 | valid ppl   290\n"
     "| epoch   2 |   200/ 2983 batches | lr 5.00 | ms/batch 10.04 | loss  "
     "6.25 | ppl   518.01",
     "step=200 loss=7.5 learning_rate=20\nstep=400 loss=nan learning_rate=20\n"
     "step=600 loss=6.25 learning_rate=5"},
    {"Transformer-XL counts its steps, NVIDIA's with other words",
     "| epoch   1 step      200 |    200 batches | lr 0.00025 | ms/batch 584.9"
     "1 | loss  7.50 | ppl  1882.31\n"
     "| epoch   2 step      900 | batches     10 / 700 | lr 0.5 | ms/batch "
     "65.9 | tok/s 56196 | loss 6.25 | ppl 488",
     "step=200 loss=7.5 learning_rate=0.00025\n"
     "step=900 loss=6.25 learning_rate=0.5"},
    {"glued, torn; a table of other things",
     "| epoch   1 |   200/ 2983 batches | lr 5.00 | ms/bat| epoch   1 |   400/ "
     "2983 batches | lr 5.00 | ms/batch 10.04 | loss  7.50 | ppl  1808.04\n"
     "| epoch   1 |   600/ 2983 batches | lr 5.00 | ms/batch 10.04 | loss  7\n"
     "| format | ms/batch | used |",
     "step=400 loss=7.5 learning_rate=5"},
};

}  // namespace

const SampleTable kWordLanguageModelSamples = {"word_language_model", kLines};

}  // namespace nanwatch
