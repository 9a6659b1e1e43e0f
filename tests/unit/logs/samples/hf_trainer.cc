// Hugging Face Trainer, ms-swift: sample lines in its texture, and what they
// say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"steps from the bars around",
     "  0%|          | 0/200 [00:00<?, ?it/s]\n"
     "  5%|5         | 10/200 [00:10<03:10,  1.00s/it]\n"
     "{'loss': 2.3125, 'grad_norm': 1.25, 'learning_rate': 2e-05, 'epoch': "
     "0.05}\n"
     "  5%|5         | 10/200 [00:10<03:10,  1.00s/it]\n"
     " 10%|#         | 20/200 [00:20<03:00,  1.00s/it]{'loss': 2.25, "
     "'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}",
     "step=10 loss=2.3125 grad_norm=1.25 learning_rate=2e-05\n"
     "step=20 loss=2.25 grad_norm=1.5 learning_rate=1e-05"},
    {"bars of data and of an evaluation are others",
     "Map: 100%|##########| 5000/5000 [00:01<00:00, 4000 examples/s]\n"
     "  5%|5         | 10/200 [00:10<03:10,  1.00s/it]\n"
     "{'loss': 2.5, 'learning_rate': 2e-05, 'epoch': 0.05}\n"
     " 15%|#5        | 30/200 [00:20<03:00,  1.00s/it]\n"
     "100%|##########| 50/50 [00:20<03:00,  1.00s/it]\n"
     "{'eval_loss': 2.4, 'eval_runtime': 3.1, 'epoch': 0.1}\n"
     "{'loss': 2.25, 'learning_rate': 1e-05, 'epoch': 0.15}\n"
     "{'train_runtime': 99.1, 'train_loss': 2.4, 'epoch': 1.0}",
     "step=10 loss=2.5 learning_rate=2e-05\n"
     "step=30 loss=2.25 learning_rate=1e-05"},
    {"a bar that is one behind",
     "  2%|2         | 49/2013 [01:26<2:09:07,  3.94s/it][2022-01-08 01:40:55] "
     "[INFO] [timer.py:181:stop] 0/50\n"
     "{'loss': 8.0, 'learning_rate': 3e-05, 'epoch': 0.11}\n"
     "  2%|2         | 51/2013 [01:26<2:09:07,  3.94s/it][2022-01-08 01:40:55] "
     "[INFO] [timer.py:181:stop] 0/52\n"
     "  5%|5         | 99/2013 [01:26<2:09:07,  3.94s/it]{'loss': 7.5, "
     "'learning_rate': 3e-05, 'epoch': 0.22}",
     "step=50 loss=8 learning_rate=3e-05\n"
     "step=100 loss=7.5 learning_rate=3e-05"},
    {"no bars: counted; strings; a checkpoint's restart",
     "{'loss': '5.072', 'grad_norm': '20.19', 'learning_rate': '0', 'epoch': "
     "'0.25'}\n"
     "{'loss': '4.5', 'grad_norm': '392', 'learning_rate': '0.0002', 'epoch': "
     "'0.5'}\n"
     "{'loss': '4.25', 'grad_norm': '9', 'learning_rate': '0.0002', 'epoch': "
     "'0.25'}",
     "step=1 loss=5.072 grad_norm=20.19 learning_rate=0\n"
     "step=2 loss=4.5 grad_norm=392 learning_rate=0.0002\n"
     "step=1 loss=4.25 grad_norm=9 learning_rate=0.0002"},
    {"trainer_state.json",
     "{\n"
     "  \"best_metric\": null,\n"
     "  \"epoch\": 0.2,\n"
     "  \"global_step\": 20,\n"
     "  \"log_history\": [\n"
     "    {\n"
     "      \"epoch\": 0.1,\n"
     "      \"grad_norm\": 0.5,\n"
     "      \"learning_rate\": 1e-05,\n"
     "      \"loss\": 6.75,\n"
     "      \"step\": 10\n"
     "    },\n"
     "    {\n"
     "      \"epoch\": 0.1,\n"
     "      \"eval_loss\": 6.5,\n"
     "      \"step\": 10\n"
     "    },\n"
     "    {\n"
     "      \"epoch\": 0.2,\n"
     "      \"grad_norm\": NaN,\n"
     "      \"learning_rate\": 2e-05,\n"
     "      \"loss\": 0.0,\n"
     "      \"step\": 20\n"
     "    },\n"
     "    {\n"
     "      \"epoch\": 0.2,\n"
     "      \"step\": 20,\n"
     "      \"total_flos\": 1.0,\n"
     "      \"train_loss\": 6.7\n"
     "    }\n"
     "  ]\n"
     "}",
     "step=10 loss=6.75 grad_norm=0.5 learning_rate=1e-05\n"
     "step=20 loss=nan grad_norm=nan learning_rate=2e-05"},
    {"the state of a training on rewards",
     "  \"log_history\": [\n"
     "    {\n"
     "      \"epoch\": 0.1,\n"
     "      \"loss\": -0.25,\n"
     "      \"reward\": 0.5,\n"
     "      \"step\": 10\n"
     "    }\n",
     "step=10 loss=-0.25 of_rewards"},
    {"a NaN that was left out of the mean",
     "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 2e-05, 'epoch': 0.1}\n"
     "{'loss': 0.0, 'grad_norm': 0.5, 'learning_rate': 2e-05, 'epoch': 0.2}",
     "step=1 loss=nan grad_norm=nan learning_rate=2e-05\n"
     "step=2 loss=0 grad_norm=0.5 learning_rate=2e-05"},
    {"ms-swift says the step",
     "Train:   2%|2| 1/60 [00:55<54:36, 55.53s/it]{'loss': '0.6647', "
     "'grad_norm': '0.8371', 'learning_rate': '3.333e-05', 'token_acc': "
     "'0.8539', 'epoch': '0.08421', 'global_step/max_steps': '1/60'}",
     "step=1 loss=0.6647 grad_norm=0.8371 learning_rate=3.333e-05"},
    {"torn, nested, of other programs",
     "{'loss': 2.3125, 'grad_norm': 1.25, 'learning_rate': 2e-\n"
     "{'loss': 2.3125}\n"
     "Arguments: {'loss': 'mse', 'epoch': 3}\n"
     "[rank0]: {'loss': 2.25, 'betas': (0.9, 0.999), 'more': {'epoch': 1}, "
     "'learning_rate': 2e-05, 'epoch': 0.1}\n"
     "{'loss': 2.5, 'learning_rate': 2e-05, 'step': 50}\n"
     "{'loss': 2.5, 'epoch': 1, 'step': 50}",
     "step=1 loss=2.25 learning_rate=2e-05"},
    {"an older one's step",
     "{'loss': 2.25, 'learning_rate': 2e-05, 'epoch': 0.5, 'step': 500}",
     "step=500 loss=2.25 learning_rate=2e-05"},
    {"numbers in calls",
     "{'loss': np.float64(2.5), 'grad_norm': tensor(nan, device='cuda:0'), "
     "'learning_rate': 2e-05, 'epoch': 0.01}",
     "step=1 loss=2.5 grad_norm=nan learning_rate=2e-05"},
    {"a bar that is complete before the training begins",
     "100%|####| 7/7 [00:01<00:00,  5.1it/s]\n"
     "{'loss': 2.5, 'learning_rate': 2e-05, 'epoch': 0.01}\n"
     "{'loss': 2.25, 'learning_rate': 2e-05, 'epoch': 0.02}",
     "step=1 loss=2.5 learning_rate=2e-05\n"
     "step=2 loss=2.25 learning_rate=2e-05"},
};

}  // namespace

const SampleTable kHfTrainerSamples = {"hf_trainer", kLines};

}  // namespace nanwatch
