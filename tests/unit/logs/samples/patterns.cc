// Programs of formats/patterns.cc: sample lines in their texture, and what they
// say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kAutomodel[] = {
    {"steps",
     "2026-03-05 10:00:04 | INFO | root | step 0 | epoch 0 | loss 11.5000 | "
     "grad_norm 2.2500 | lr 5.00e-05 | mem 12.30 GiB\n"
     "2026-03-05 10:00:08 | INFO | root | step 1 | epoch 0 | loss nan | "
     "grad_norm nan | lr 5.00e-05",
     "step=0 loss=11.5 grad_norm=2.25 learning_rate=5e-05\n"
     "step=1 loss=nan grad_norm=nan learning_rate=5e-05"},
};

constexpr SampleLines kLingua[] = {
    {"updates, and a batch before the last of one",
     "0: INFO    25-03-02 10:00:30.254429 - 0:00:30 - step: 20  acc: 0  loss:  "
     "8.125  grad: 2.50e-01  flops: 3.18e+14  wps: 3.11e+04  iter:  0.5111  "
     "data: 0.0021  lr: 5.00e-04  mem: 62%  pow: 543 W\n"
     "0: INFO    25-03-02 10:00:31.254429 - 0:00:31 - step: 20  acc: 1  loss:  "
     "8.125  grad: -1.00e+00  flops: 3.18e+14  wps: 3.11e+04  lr: 5.00e-04\n"
     "0: INFO    25-03-02 10:01:00.698006 - 0:01:00 - step: 30  acc: 0  loss:  "
     "    0  grad: nan  flops: 3.23e+14  wps: 3.11e+04  lr: 5.00e-04  mem: 62%",
     "step=20 loss=8.125 grad_norm=0.25 learning_rate=0.0005\n"
     "step=30 loss=0 grad_norm=nan learning_rate=0.0005"},
};

constexpr SampleLines kMindOcr[] = {
    {"batches of an epoch, and the last of each",
     "[2026-03-04 09:02:33] mindocr.utils.callbacks INFO - epoch: [2/20] step: "
     "[400/1000], loss: 36.500000, lr: 0.000500, per step time: 218.586 ms\n"
     "[2026-03-04 09:02:33] mindcv.utils.callbacks INFO - Epoch: [3/40], "
     "batch: [1000/1000], loss: 5.500000, lr: 0.040000, time: 935.946804s",
     "step=1400 loss=36.5 learning_rate=0.0005\n"
     "step=3000 loss=5.5 learning_rate=0.04"},
};

constexpr SampleLines kPaddleOcr[] = {
    {"several losses",
     "[2026/03/06 13:21:05] ppocr INFO: epoch: [1/500], global_step: 400, lr: "
     "0.000500, acc: 0.000000, CTCLoss: 17.500000, loss: 21.500000, "
     "avg_reader_cost: 0.00014 s, eta: 3 days, 6:25:11",
     "step=400 loss=21.5 learning_rate=0.0005"},
    {"no loss", "[2026/03/06 13:21:05] ppocr INFO: epoch: [1/500], best", ""},
};

constexpr SampleLines kKaldi[] = {
    {"an objective, and a sum",
     "LOG (nnet3-train[5.5.9~1-e3]:PrintStatsForThisPhase():nnet-training.cc:"
     "279) Average objective function for 'output' for minibatches 10-19 is "
     "-4.5 over 19314 frames.\n"
     "LOG (nnet3-chain-train[5.5.9~1-e3]:PrintStatsForThisPhase():nnet-training"
     ".cc:299) Average objective function for 'output' for minibatches 100-199 "
     "is -0.25 + -0.5 = -0.75 over 581206 frames.\n"
     "LOG (nnet3-chain-train[5.5.9~1-e3]) Average objective function for "
     "'output' for minibatches 200-299 is nan + nan = nan over 5812 frames.",
     "step=19 loss=4.5 of_objective\n"
     "step=199 loss=0.75 of_objective\n"
     "step=299 loss=nan of_objective"},
    {"another head's, the mean of all, and torn",
     "LOG (nnet3-chain-train[5.5.9]) Average objective function for "
     "'output-xent' for minibatches 0-99 is -2.5 over 588572 frames.\n"
     "LOG (nnet3-train[5.5.9]:PrintTotalStats()) Overall average objective "
     "function for 'output' is -1.5 over 1168000 frames.\n"
     "LOG (nnet3-train[5.5.9]) Average objective function for 'output' for "
     "minibatches 10-19 is -4.5",
     ""},
};

constexpr SampleLines kDl4j[] = {
    {"scores, and other lines",
     "06:39:50.616 [main] INFO org.deeplearning4j.optimize.listeners."
     "ScoreIterationListener - Score at iteration 100 is 1.375\n"
     "06:41:14.384 [main] INFO ScoreIterationListener - Score at iteration 200 "
     "is NaN\n"
     "06:41:15.000 [main] INFO EvaluativeListener - Reporting evaluation",
     "step=100 loss=1.375\nstep=200 loss=nan"},
};

constexpr SampleLines kTesseract[] = {
    {"old and new, and other lines",
     "At iteration 100/200/205, Mean rms=4.125%, delta=43.5%, char "
     "train=100.9%, word train=99.7%, skip ratio=4.4%,  New worst char error\n"
     "At iteration 300/695400/698614, mean rms=0.125%, delta=0.295%, BCER "
     "train=1.882%, BWER train=2.285%\n"
     "Loaded file data/ara/ara.lstm, unpacking...\nFinished! Error rate = 1.8",
     "step=100 loss=4.125\nstep=300 loss=0.125"},
};

constexpr SampleLines kTacotron2Evaluated[] = {
    {"evaluations, and other lines",
     "Validation loss 526:  0.25  \nValidation loss 1052:  nan  \n"
     "Saving model and optimizer state at iteration 526 to a.pt\n"
     "Validation loss improved",
     "step=526 loss=0.25\nstep=1052 loss=nan"},
};

constexpr SampleLines kIcefall[] = {
    {"ranks, and a scale that is small",
     "2026-03-20 02:25:34,195 WARNING [train.py:1047] (1/2) Grad scale is "
     "small: 0.001953125\n"
     "2026-03-20 02:25:34,195 INFO [train.py:1056] (1/2) Epoch 1, batch 50, "
     "loss[loss=0.625, simple_loss=0.5, over 11250.00 frames.], "
     "tot_loss[loss=0.75, over 1.0 frames.], batch size: 127, lr: 2.50e-02, "
     "grad_scale: 0.125",
     "scale loss_scale=0.001953125\n"
     "step=50 loss=0.625 loss_scale=0.125 learning_rate=0.025 rank=1"},
    {"a scale without a point, at the line's end",
     "INFO [train.py:1056] (0/4) Epoch 1, batch 100, loss[loss=0.5, over 1.0 "
     "frames.], batch size: 127, lr: 2.50e-02, grad_scale: 16",
     "step=100 loss=0.5 loss_scale=16 learning_rate=0.025 rank=0"},
    {"relatives: more before the loss, or another name",
     "INFO [train_zipvoice.py:685] Epoch 1, batch 49, global_batch_idx: 50, "
     "batch size: 56, loss[loss=0.5, over 1.0 frames.], cur_lr: 2.50e-02, "
     "grad_scale: 16\n"
     "INFO [trainer.py:694] (0/4) Epoch 1, batch 100, train_loss[loss=0.25, "
     "over 1.0 frames.], tot_loss[loss=0.75], lr: 2.50e-02, grad_scale: 16",
     "step=49 loss=0.5 loss_scale=16 learning_rate=0.025\n"
     "step=100 loss=0.25 loss_scale=16 learning_rate=0.025 rank=0"},
    {"one process, and an evaluation",
     "2026-03-20 02:25:34,195 INFO [train.py:996] Epoch 1, batch 0, "
     "loss[loss=7.25, over 11250.00 frames.], tot_loss[loss=7.25, over 1.0 "
     "frames.], batch size: 127\n"
     "2026-03-20 02:25:34,195 INFO [train.py:1028] Epoch 1, validation: "
     "loss=0.9, simple_loss=0.5",
     "step=0 loss=7.25"},
};

constexpr SampleLines kFunAsr[] = {
    {"an update that is skipped over its gradients",
     "[2026-03-29 23:59:01,773][root][WARNING] - The grad norm is nan. "
     "Skipping updating the model.\n"
     "[2026-03-29 23:59:01,779][root][INFO] - train, rank: 0, epoch: 0/100, "
     "data_slice: 0/1, step_in_slice: 3/44, step_in_epoch: 3, total step: 3, "
     "(loss_avg_rank: 24.500), (loss_avg_slice: 27.633), (lr: 3.000e-07), "
     "[('loss_ctc', 24.250), ('loss', 24.250), ('acc_rich', 1.0)], {}, GPU",
     "overflow skipped\n"
     "step=3 loss=24.25 learning_rate=3e-07 rank=0"},
};

constexpr SampleLines kNnUnet[] = {
    {"an epoch in several lines; losses below 0",
     "2026-03-12 18:20:21.625154: Epoch 3 \n"
     "2026-03-12 18:20:21.630196: Current learning rate: 0.00998 \n"
     "2026-03-12 18:25:51.488273: train_loss -0.5000 \n"
     "2026-03-12 18:25:51.493741: val_loss 0.3339 \n"
     "2026-03-12 18:25:51.497657: Pseudo dice [0.4185, nan, 0.3766] ",
     "step=3 loss=-0.5 learning_rate=0.00998"},
};

constexpr SampleLines kCoqui[] = {
    {"a step in several lines",
     "   --> TIME: 2026-03-18 13:31:34 -- STEP: 25/496 -- GLOBAL_STEP: 25\n"
     "     | > loss: 3.625  (3.534811576207479)\n"
     "     | > log_mle: 0.632981538772583  (0.6383022785186767)\n"
     "     | > amp_scaler: 16384.0  (16384.0)\n"
     "     | > grad_norm: tensor(10.75, device='cuda:0')  (9.12)\n"
     "     | > current_lr: 2.5e-07 \n"
     "     | > loader_time: 0.0025  (0.0031)",
     "step=25 loss=3.625 loss_scale=16384 grad_norm=10.75 "
     "learning_rate=2.5e-07"},
    {"two optimizers",
     "   --> STEP: 23/270 -- GLOBAL_STEP: 1061540\n"
     "     | > loss_kl: 2.5  (2.5)\n     | > loss_0: 21.5  (20.5)\n"
     "     | > grad_norm_0: 472.5  (462.5)\n     | > loss_disc: 3.5  (3.25)\n"
     "   --> STEP: 43/270 -- GLOBAL_STEP: 1061560",
     "step=1061540 loss=21.5 grad_norm=472.5"},
    {"nothing but times",
     "   --> TIME: 2026-03-18 13:31:18 -- STEP: 0/496 -- GLOBAL_STEP: 0\n"
     "     | > loader_time: 0.4176  (0.4175543785095215)",
     ""},
};

constexpr SampleLines kSb3[] = {
    {"tables",
     "----------------------------------\n"
     "| time/                |         |\n"
     "|    total_timesteps   | 2048    |\n"
     "| train/               |         |\n"
     "|    learning_rate     | 0.0005  |\n"
     "|    loss              | 29.5    |\n"
     "|    value_loss        | 58      |\n"
     "----------------------------------\n"
     "----------------------------------\n"
     "|    total_timesteps   | 4096    |\n"
     "|    loss              | nan     |\n"
     "----------------------------------",
     "step=2048 loss=29.5 learning_rate=0.0005\n"
     "step=4096 loss=nan"},
    {"before it trains",
     "----------------------------------\n"
     "|    total_timesteps   | 2048    |\n"
     "----------------------------------",
     ""},
};

constexpr SampleLines kMlLog[] = {
    {"one number, and several",
     ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1710009491383, "
     "\"event_type\": \"POINT_IN_TIME\", \"key\": \"train_loss\", \"value\": "
     "11.5, \"metadata\": {\"file\": \"train.py\", \"lineno\": 277, "
     "\"samples_count\": 2048, \"lr\": 5e-06}}\n"
     ":::MLLOG {\"namespace\": \"\", \"key\": \"tracked_stats\", \"value\": "
     "{\"train_loss\": NaN, \"throughput\": 12.5}, \"metadata\": {\"step\": "
     "20}}",
     "step=2048 loss=11.5 learning_rate=5e-06\nstep=20 loss=nan"},
    {"others, torn",
     ":::MLLOG {\"namespace\": \"\", \"key\": \"eval_loss\", \"value\": 0.5, "
     "\"metadata\": {\"step\": 3}}\n"
     ":::MLLOG {\"namespace\": \"\", \"key\": \"train_loss\", \"value\": 1",
     ""},
};

constexpr SampleLines kYolox[] = {
    {"iterations begin anew in each epoch",
     "2026-03-02 08:02:11 | INFO     | yolox.core.trainer:261 - epoch: 1/300, "
     "iter: 490/500, gpu mem: 9000Mb, iter_time: 0.400s, data_time: 0.003s, "
     "total_loss: 8.5, iou_loss: 2.5, l1_loss: 0.0, conf_loss: 4.0, cls_loss: "
     "2.0, lr: 7.500e-03, size: 640, ETA: 1 day, 3:11:12\n"
     "2026-03-02 08:02:19 | INFO     | yolox.core.trainer:261 - epoch: 3/300, "
     "iter: 10/500, gpu mem: 9000Mb, mem: 30.1Gb, iter_time: 0.400s, "
     "data_time: 0.003s, total_loss: nan, iou_loss: nan, l1_loss: 0.0, "
     "conf_loss: nan, cls_loss: nan, lr: 7.500e-03, size: 640, ETA: 3:11:12",
     "step=490 loss=8.5 learning_rate=0.0075\n"
     "step=1010 loss=nan learning_rate=0.0075"},
};

constexpr SampleLines kMarian[] = {
    {"costs beside counts, a validation, a NaN",
     "[2026-03-02 10:00:00] Ep. 1 : Up. 500 : Sen. 45,000 : Cost 8.50000000 * "
     "11,981 @ 312 after 4,500 : Time 61.22s : 41231.22 words/s : gNorm 1.2500 "
     ": L.r. 2.5000e-04\n"
     "[2026-03-02 10:00:09] [valid] Ep. 1 : Up. 500 : cross-entropy : 150.25 : "
     "new best\n"
     "[2026-03-02 10:01:00] Ep. 2.5 : Up. 1000 : Sen. 90,000 : Cost nan : Time "
     "61.22s : 41231.22 words/s",
     "step=500 loss=8.5 grad_norm=1.25 learning_rate=0.00025\n"
     "step=1000 loss=nan"},
};

constexpr SampleLines kRslRl[] = {
    {"names of several versions",
     "                   Learning iteration 66/1500                    \n"
     "                   Computation: 90403 steps/s (collection: 0.7s)\n"
     "           Value function loss: 0.0625\n"
     "                Surrogate loss: -0.0075\n"
     "                   Mean reward: 1.25\n"
     "                Iteration time: 1.02s\n"
     "                   Learning iteration 67/1500                    \n"
     "               Mean value loss: 0.1250\n"
     "           Mean surrogate loss: nan\n"
     "             Mean entropy loss: 17.0273\n"
     "                Iteration time: 1.02s\n"
     "                   Learning iteration 68/1500                    \n"
     "      Mean value_function loss: inf\n"
     "                Iteration time: 1.02s",
     "step=66 loss=0.0625\nstep=67 loss=nan\nstep=68 loss=inf"},
};

constexpr SampleLines kDeepXde[] = {
    {"lists of terms",
     "Step      Train loss              Test loss               Test metric   "
     "\n"
     "0         [2.50e+01, 5.00e-01]    [2.25e+01, 5.00e-01]    [1.00e+00]    "
     "\n"
     "1000      [2.00e+01, nan]         [nan, 5.00e-01]         []    \n"
     "2000      [1.50e+01]    [1.00e+00]    [1.00e+00]    \n"
     "3000      [1.50e+01, 5.00\n\n"
     "Best model at step 2000:\n  train loss: 1.50e+01",
     "step=0 loss=25.5\nstep=1000 loss=nan\nevaluated: Test loss loss=nan\n"
     "step=2000 loss=15\nevaluated: Test loss loss=1"},
    {"no table", "0         [2.50e+01, 5.00e-01]    [2.25e+01, 5.00e-01]", ""},
};

constexpr SampleLines kCatBoost[] = {
    {"a metric that falls",
     "0:\tlearn: 0.7500000\ttest: 0.7500000\tbest: 0.7500000 (0)\ttotal: "
     "3.1ms\tremaining: 3.1s\n"
     "10:\tlearn: 0.5000000\ttotal: 33ms\tremaining: 3s\n"
     "20:\tlearn: nan\ttotal: 63ms\tremaining: 3s\n"
     "bestTest = 0.5\nbestIteration = 20",
     "step=0 loss=0.75\nstep=10 loss=0.5\nstep=20 loss=nan"},
    {"a metric that rises",
     "0:\tlearn: 0.5000000\ttotal: 3.1ms\tremaining: 3.1s\n"
     "1:\tlearn: 0.7500000\ttotal: 3.1ms\tremaining: 3.1s",
     "step=0 loss=-0.5 of_objective\nstep=1 loss=-0.75 of_objective"},
    {"of 2018, its tabs lost",
     "0:\tlearn 0.5555555555passed: 17.1 sec\ttotal: 17s\tremaining: 3h 36m\n"
     "1:\tlearn 0.5\ttest 0.75\tpassed: 9 sec\ttotal: 26s\tremaining: 3h\n"
     "2:\tlearn nanpassed: 17.3 sec\ttotal: 43s\tremaining: 3h 35m",
     "step=0 loss=0.5555555555\nstep=1 loss=0.5\nstep=2 loss=nan"},
};

constexpr SampleLines kSpacy[] = {
    {"sums since the row before",
     "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  SCORE \n"
     "---  ------  ------------  --------  ------  ------  ------\n"
     "  0       0          0.50     24.50   20.00   20.00    0.20\n"
     "  0     200         50.00   2450.00   25.00   25.00    0.25\n"
     "  1     400           nan    450.00   25.00   25.00    0.25\n"
     "  1     600         50.00",
     "step=0 loss=25\nstep=200 loss=12.5\nstep=400 loss=nan"},
    {"rows of no table", "  0     200         50.00   2450.00   25.00", ""},
};

}  // namespace

const SampleTable kYoloxSamples = {"yolox", kYolox};
const SampleTable kMarianSamples = {"marian", kMarian};
const SampleTable kRslRlSamples = {"rsl_rl", kRslRl};
const SampleTable kDeepXdeSamples = {"deepxde", kDeepXde};
const SampleTable kCatBoostSamples = {"catboost", kCatBoost};
const SampleTable kSpacySamples = {"spacy", kSpacy};
const SampleTable kMlLogSamples = {"mllog", kMlLog};
const SampleTable kAutomodelSamples = {"automodel", kAutomodel};
const SampleTable kLinguaSamples = {"lingua", kLingua};
const SampleTable kMindOcrSamples = {"mindocr", kMindOcr};
const SampleTable kPaddleOcrSamples = {"paddleocr", kPaddleOcr};
const SampleTable kIcefallSamples = {"icefall", kIcefall};
const SampleTable kFunAsrSamples = {"funasr", kFunAsr, "espnet"};
const SampleTable kNnUnetSamples = {"nnunet", kNnUnet};
const SampleTable kCoquiSamples = {"coqui", kCoqui};
const SampleTable kKaldiSamples = {"kaldi", kKaldi};
const SampleTable kDl4jSamples = {"deeplearning4j", kDl4j};
const SampleTable kTesseractSamples = {"tesseract", kTesseract};
const SampleTable kTacotron2EvaluatedSamples = {"tacotron2_evaluated",
                                                kTacotron2Evaluated};
const SampleTable kSb3Samples = {"stable_baselines3", kSb3};

}  // namespace nanwatch
