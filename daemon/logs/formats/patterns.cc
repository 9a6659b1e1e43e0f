// Programs whose step lines are patterns and no more: a row or a few of the
// table each, with what they look like above it. Language models and others.

#include "logs/formats/formats.h"
#include "logs/line_pattern.h"

namespace nanwatch {
namespace {

using Epochs = PatternHabits::Epochs;
using Role = LinePattern::Role;
using Text = std::string_view;

constexpr PatternHabits kSeen = {.epochs = Epochs::kSeen};
constexpr PatternHabits kFromZero = {.epochs = Epochs::kFromZero};
constexpr PatternHabits kOnce = {.once = true};

// llm.c, on its console and in main.log.
//  step    1/19560 | loss 11.009 (+nanz)| norm 15.2 (+nanz)| lr 8.57e-07 | ...
//  s:1 trl:11.0090 lr:0.000001 norm:15.20
constexpr Text kLlmCMarks[] = {"z)| norm ", " trl:"};
constexpr Text kLlmCAlso[] = {"norm {norm}", "lr {lr}"};
constexpr LinePattern kLlmCLines[] = {
    {"step {step}/{} | loss {loss} ({}z)| ", kLlmCAlso},
    {"s:{step} trl:{loss} lr:{lr} norm:{norm}"}};

// nanoGPT and what grew out of it; the last is build-nanogpt's log.txt.
//  iter 100: loss 2.1234, time 12.34ms, mfu 1.00%
//  step    10 | loss: 9.1234 | lr 1.0e-04 | norm: 1.2345 | dt: 93.1ms | tok/sec
//  step:100/5100 train_loss:4.5678 train_time:12345ms step_avg:137.2ms
//  100 train 6.254321
constexpr Text kNanoGptMarks[] = {": loss ",
                                  " | loss: ", " train_loss:", " train "};
constexpr LinePattern kNanoGptLines[] = {
    {"iter {step}: loss {loss}, time {}ms"},
    {"step {step} | loss: {loss} | lr {lr} | norm: {norm} "},
    {"step:{step}/{} train_loss:{loss} train_time:"},
    {"^{step} train {loss}"}};

// LitGPT: several lines a step where gradients are accumulated.
//  Epoch 1 | iter 10 step 5 | loss train: 2.123, val: n/a | iter time: 123.45
//  ms iter 10 step 5: loss 2.1234, iter time: 123.45ms (optimizer.step)
constexpr Text kLitGptMarks[] = {"| loss train: ", ": loss "};
constexpr LinePattern kLitGptLines[] = {
    {"iter {} *step {step} | loss train: {loss},"},
    {"iter {} *step {step}: loss {loss},"}};

// torchtitan's metric lines, coloured on a terminal.
//  [titan] 2024-10-01 10:00:00,123 - root - INFO - step: 10  loss:  7.1234
//  grad_norm:  1.2345  memory: 36.22GiB(45.80%)  tps: 6,271  mfu: 38.1%
constexpr Text kTorchTitanMarks[] = {"step: "};
constexpr Text kTorchTitanAlso[] = {"grad_norm: {norm}", "lr: {lr}"};
constexpr LinePattern kTorchTitanLines[] = {
    {"validate step: ", {}, Role::kNothing},
    {"step: {step}  loss: {loss} *memory: ", kTorchTitanAlso}};

// Meta's lingua (its apps/main/train.py), whose norm is named "grad". Of others
// that name may be a term of the loss or a time. Batches before the last of an
// update, on demand, have no norm.
//  0: INFO    25-03-02 10:00:00.163012 - 0:00:00 - step: 10  acc: 0 loss:  8.17
//  grad: 3.58e-01  flops: 3.17e+14  wps: 3.10e+04  iter: 0.5258  data: 0.0021
//  lr: 3.00e-04  mem: 62%  pow: 541 W
constexpr Text kLinguaMarks[] = {"  flops: "};
constexpr Text kLinguaAlso[] = {"lr: {lr}"};
constexpr LinePattern kLinguaLines[] = {
    {"step: {step}  acc: 0  loss: {loss}  grad: {norm}  flops: ", kLinguaAlso},
    {"step: {}  acc: {}  loss: {}  grad: ", {}, Role::kNothing}};

// NeMo Automodel.
//  2025-08-05 10:00:04 | INFO | root | step 0 | epoch 0 | loss 12.4089 |
//  grad_norm 2.3849 | lr 5.00e-05 | mem 12.3 GiB
constexpr Text kAutomodelMarks[] = {" | grad_norm "};
constexpr LinePattern kAutomodelLines[] = {
    {"step {step} | epoch {} | loss {loss} | grad_norm {norm} | lr {lr}"}};

// PyTorch's example word_language_model, its tutorial on Transformers, and what
// grew out of them: AWD-LSTM, Transformer-XL. Some print as the whole what is
// none.
// | epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 10.04 | loss  7.63 |
// | epoch   1 step      200 |    200 batches | lr 0.00025 | ms/batch 584.91 |
// loss  7.54 | ppl  1882.31
constexpr Text kWordMarks[] = {"| ms/batch "};
constexpr Text kWordAlso[] = {"lr {lr}"};
constexpr LinePattern kWordLines[] = {
    {"| epoch {epoch} step {step} |*| ms/batch *loss {loss} ", kWordAlso},
    {"| epoch {epoch} | {batch}/ {} batches *| ms/batch *loss {loss} ",
     kWordAlso}};

// Marian. The cost may be a sentence's or a word's, and stand beside counts.
//  [2025-01-02 10:00:00] Ep. 1 : Up. 1000 : Sen. 90,000 : Cost 7.2601 * 1,201 @
//  312 after 9,000 : Time 61.22s : 41231.22 words/s : gNorm 0.9920 : L.r. 5e-04
constexpr Text kMarianMarks[] = {" : Cost "};
constexpr Text kMarianAlso[] = {"gNorm {norm}", "L.r. {lr}$"};
constexpr LinePattern kMarianLines[] = {
    {"Ep. {} : Up. {step} : Sen. {} : Cost {loss} ", kMarianAlso}};

// PaddleNLP's trainer (and PaddleFormers'), and PaddleFleetX.
//  loss: 3.25806541, learning_rate: 2.99e-05, global_step: 10,
//  interval_runtime: 2.2591, ..., epoch: 0.0265
//  [train] epoch: [0/1], batch: [10/1000], loss: 10.9, avg_batch_cost: 0.2 sec,
//  speed: 4.1 step/s, ..., learning rate: 6.25e-09, found_inf: 0
//  global step 1, epoch: 0, batch: 0, loss: 11.64, avg_reader_cost: 0.2 sec,
//  ...
constexpr Text kPaddleNlpMarks[] = {", global_step: ", ", batch: "};
constexpr Text kPaddleNlpAlso[] = {"global_norm: {norm}", "grad_norm: {norm}",
                                   "loss_scale: {scale}"};
constexpr Text kFleetAlso[] = {"loss: {loss}", "learning rate: {lr}",
                               "lr: {lr}", "loss_scale: {scale}",
                               "found_inf: {overflow}$"};
constexpr LinePattern kPaddleNlpLines[] = {
    {"[eval]", {}, Role::kNothing},
    {"eval_loss: ", {}, Role::kNothing},
    {"loss: {loss}, learning_rate: {lr}, global_step: {step},", kPaddleNlpAlso},
    {"[train] epoch: [{epoch}/ {}], batch: [{batch}/{whole}], ", kFleetAlso},
    {"global step {step}, epoch: ", kFleetAlso}};

// rsl_rl, of legged_gym and Isaac Lab: a box an iteration. The value's loss is
// the one that is of a size with itself.
//                   Learning iteration 66/30000
//               Value function loss: 0.0438
//                    Surrogate loss: -0.0075
//                    Iteration time: 1.02s
// Later: "Mean value_function loss", "Mean value loss", "Mean surrogate loss".
constexpr Text kRslRlMarks[] = {
    "Learning iteration ",
    " loss: ", "Iteration time: ", "Mean reward: ", "Mean total reward: "};
constexpr LinePattern kRslRlLines[] = {
    {"Learning iteration {step}/", {}, Role::kBegin},
    {"Value function loss: {loss}", {}, Role::kPart},
    {"Mean value_function loss: {loss}", {}, Role::kPart},
    {"Mean value loss: {loss}", {}, Role::kPart},
    {"urrogate loss: {term}", {}, Role::kPart},
    {"ntropy loss: {term}", {}, Role::kPart},
    {"Mean reward: {score}", {}, Role::kPart},
    {"Mean total reward: {score}", {}, Role::kPart},
    {"Iteration time: ", {}, Role::kEnd}};

// Stable-Baselines3: a table a log step.
//  -----------------------------------------
//  |    total_timesteps      | 2048        |
//  |    learning_rate        | 0.0003      |
//  |    loss                 | 29          |
//  -----------------------------------------
constexpr Text kSb3Marks[] = {"------", "| total_timesteps", "total_timesteps ",
                              "loss ",  "learning_rate ",    "ep_rew_mean "};
constexpr LinePattern kSb3Lines[] = {
    {"------", {}, Role::kBegin},
    {"| total_timesteps | {step} |", {}, Role::kPart},
    {"| learning_rate | {lr} |", {}, Role::kPart},
    {"| ep_rew_mean | {score} |", {}, Role::kPart},
    {"| loss | {loss} |", {}, Role::kPart},
    {"| critic_loss | {loss} |", {}, Role::kPart},
    {"| value_loss | {loss} |", {}, Role::kPart}};

// TensorFlow's estimators: the logging hooks' lines, of TensorFlow's logger or
// of absl's. Behind the step stands its time, but at the first one.
//  INFO:tensorflow:loss = 0.6931, step = 100 (1.2 sec)
//  I0521 19:45:05.73 2814 basic_session_run_hooks.py:260] global_step = 1300,
//  masked_lm_loss = 0.9416, next_sentence_loss = 0.0235, total_loss = 0.9651
//  INFO:tensorflow:Saving dict for global step 100: loss = 0.65
constexpr Text kTfEstimatorMarks[] = {"loss = "};
constexpr Text kTfEstimatorAlso[] = {"total_loss = {loss}", "loss = {loss}",
                                     "learning_rate = {lr}", "lr = {lr}"};
// What its users log with it.
constexpr Text kTfTensors[] = {"global_norm = {norm}", "grad_norm = {norm}",
                               "loss_scale = {scale}"};
constexpr LinePattern kTfEstimatorLines[] = {
    {"aving dict", {}, Role::kNothing},
    {"global_step = {step}, ", kTfEstimatorAlso},
    {":loss = {loss}, *step = {step} ", kTfTensors},
    {"] loss = {loss}, *step = {step} ", kTfTensors},
    {":loss = {loss}, *step = {first}", kTfTensors},
    {"] loss = {loss}, *step = {first}", kTfTensors}};

// TensorBoard's event files are not made of lines: logs/tensorboard.h reads
// them. Here they have a name, for --format and for reports.
constexpr Text kTensorBoardMarks[] = {"\n"};
constexpr LinePattern kTensorBoardLines[] = {{"\n", {}, Role::kNothing}};

// Deeplearning4j's ScoreIterationListener: the score is a loss.
//  06:39:50.616 [main] INFO org.deeplearning4j.optimize.listeners.
//  ScoreIterationListener - Score at iteration 100 is 1.3935213258387884
constexpr Text kDl4jMarks[] = {"Score at iteration "};
constexpr LinePattern kDl4jLines[] = {{"Score at iteration {step} is {loss}"}};

// Tesseract's lstmtraining: what its outputs are off by, in percent.
//  At iteration 100/100/105, Mean rms=4.146%, delta=43.560%, char train=100.9%
constexpr Text kTesseractMarks[] = {"ean rms="};
constexpr LinePattern kTesseractLines[] = {
    {"At iteration {step}/{}/{}, *ean rms={loss}%"}};

}  // namespace

const LogFormat kLlmC = PatternFormat<kLlmCLines>("llm_c", "llm.c", kLlmCMarks);
const LogFormat kNanoGpt = PatternFormat<kNanoGptLines>(
    "nanogpt", "nanoGPT, build-nanogpt, modded-nanogpt", kNanoGptMarks);
const LogFormat kLitGpt = PatternFormat<kLitGptLines, kOnce>(
    "litgpt", "LitGPT, lit-gpt", kLitGptMarks);
const LogFormat kTorchTitan = PatternFormat<kTorchTitanLines>(
    "torchtitan", "torchtitan", kTorchTitanMarks);
const LogFormat kLingua =
    PatternFormat<kLinguaLines>("lingua", "Meta's lingua", kLinguaMarks);
const LogFormat kAutomodel = PatternFormat<kAutomodelLines>(
    "automodel", "NeMo Automodel", kAutomodelMarks);
const LogFormat kWordLanguageModel = PatternFormat<kWordLines, kSeen>(
    "word_language_model", "PyTorch's word_language_model, Transformer-XL",
    kWordMarks);
const LogFormat kMarian =
    PatternFormat<kMarianLines>("marian", "Marian", kMarianMarks);
const LogFormat kPaddleNlp = PatternFormat<kPaddleNlpLines, kFromZero>(
    "paddlenlp", "PaddleNLP, PaddleFormers, PaddleFleetX", kPaddleNlpMarks);
const LogFormat kTfEstimator = PatternFormat<kTfEstimatorLines>(
    "tf_estimator", "TensorFlow estimators, also on Ascend", kTfEstimatorMarks);
const LogFormat kRslRl = PatternFormat<kRslRlLines>(
    "rsl_rl", "rsl_rl (legged_gym, Isaac Lab)", kRslRlMarks);
const LogFormat kTensorBoard = PatternFormat<kTensorBoardLines>(
    "tensorboard", "TensorBoard's event files (scalars)", kTensorBoardMarks);
const LogFormat kSb3 = PatternFormat<kSb3Lines>("stable_baselines3",
                                                "Stable-Baselines3", kSb3Marks);
const LogFormat kDl4j =
    PatternFormat<kDl4jLines>("deeplearning4j", "Deeplearning4j", kDl4jMarks);
const LogFormat kTesseract = PatternFormat<kTesseractLines>(
    "tesseract", "Tesseract's lstmtraining", kTesseractMarks);

}  // namespace nanwatch
