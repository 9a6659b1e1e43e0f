// Programs whose step lines are patterns and no more: a row or a few of the
// table each, with what they look like above it.

#include "logs/formats/formats.h"
#include "logs/line_pattern.h"

namespace nanwatch {
namespace {

using Also = LinePattern::Also;
using Epochs = PatternProgram::Epochs;
using Role = LinePattern::Role;
using Part = LogFormat::Part;
using Mark = std::string_view;

constexpr StepField kLoss = StepField::kLoss;
constexpr StepField kNorm = StepField::kGradNorm;
constexpr StepField kRate = StepField::kLearningRate;
constexpr LastNumber kWhole = LastNumber::kIsWhole;
constexpr StepField kScale = StepField::kLossScale;

// llm.c, on its console and in main.log.
//  step    1/19560 | loss 11.009 (+nanz)| norm 15.2 (+nanz)| lr 8.57e-07 | ...
//  s:1 trl:11.0090 lr:0.000001 norm:15.20
constexpr Mark kLlmCMarks[] = {"z)| norm ", " trl:"};
constexpr Also kLlmCAlso[] = {{"norm ", kNorm}, {"lr ", kRate}};
constexpr LinePattern kLlmCLines[] = {
    {"step {step}/{} | loss {loss} ({}z)| ", kLlmCAlso},
    {"s:{step} trl:{loss} lr:{lr} norm:{norm}"}};
constexpr PatternProgram kLlmCProgram = {kLlmCLines};

// nanoGPT and what grew out of it; the last is build-nanogpt's log.txt.
//  iter 100: loss 2.1234, time 12.34ms, mfu 1.00%
//  step    10 | loss: 9.1234 | lr 1.0e-04 | norm: 1.2345 | dt: 93.1ms | tok/sec
//  step:100/5100 train_loss:4.5678 train_time:12345ms step_avg:137.2ms
//  100 train 6.254321
constexpr Mark kNanoGptMarks[] = {": loss ",
                                  " | loss: ", " train_loss:", " train "};
constexpr LinePattern kNanoGptLines[] = {
    {"iter {step}: loss {loss}, time {}ms"},
    {"step {step} | loss: {loss} | lr {lr} | norm: {norm} "},
    {"step:{step}/{} train_loss:{loss} train_time:"},
    {"^{step} train {loss}"}};
constexpr PatternProgram kNanoGptProgram = {kNanoGptLines};

// InsightFace's ArcFace. The scale is printed with %2.f: 0 is less than a half.
//  Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss 44.2134
//  LearningRate 0.0999   Epoch: 0   Global Step: 100   Fp16 Grad Scale: 65536
//  Required: 13 hours
constexpr Mark kInsightFaceMarks[] = {"Global Step: "};
constexpr Also kInsightFaceAlso[] = {{"LearningRate ", kRate},
                                     {"Fp16 Grad Scale:", kScale}};
constexpr LinePattern kInsightFaceLines[] = {
    {"samples/sec Loss {loss} *Global Step: {step} ", kInsightFaceAlso}};
constexpr PatternProgram kInsightFaceProgram = {kInsightFaceLines};

// YOLACT: losses by their letters, T is their sum.
//  [  0]      50 || B: 1.861 | C: 2.481 | M: 1.241 | S: 0.620 | T: 6.203 ||
//  ETA: 3 days, 4:11:12 || timer: 0.512
constexpr Mark kYolactMarks[] = {" || ETA: "};
constexpr LinePattern kYolactLines[] = {
    {"[ {epoch}] {step} || * | T: {loss} || ETA: "}};
constexpr PatternProgram kYolactProgram = {kYolactLines};

// tacotron2 and waveglow: a line a step that was applied.
//  Train loss 16 49.316841 Grad Norm 10.800460 3.71s/it
constexpr Mark kTacotron2Marks[] = {"Train loss "};
constexpr Also kTacotron2Also[] = {{"Grad Norm ", kNorm}};
constexpr LinePattern kTacotron2Lines[] = {
    {"Train loss {step} {loss} Grad Norm ", kTacotron2Also}};
constexpr PatternProgram kTacotron2Program = {kTacotron2Lines};

// maskrcnn-benchmark (MLPerf Mask R-CNN). Numbers are medians of the last 20
// steps, in parentheses means of all.
//  ... eta: 4:19:20  iter: 20  loss: 5.1036 (6.3)  ...  lr: 0.0026  max mem: 10
constexpr Mark kMaskRcnnMarks[] = {"  loss: "};
constexpr Also kMaskRcnnAlso[] = {{"lr: ", kRate}};
constexpr LinePattern kMaskRcnnLines[] = {
    {"eta: * iter: {step} loss: {loss} (", kMaskRcnnAlso}};
constexpr PatternProgram kMaskRcnnProgram = {kMaskRcnnLines};

// Detectron2's metric printer.
//  [09/02 02:37:00 d2.utils.events]:  eta: 0:10:00  iter: 19  total_loss: 2.1
//  loss_cls: 0.9  time: 0.3  data_time: 0.01  lr: 1.6e-05  max_mem: 2000M
constexpr Mark kDetectron2Marks[] = {"total_loss: "};
constexpr Also kDetectron2Also[] = {{"lr: ", kRate}, {"grad_norm: ", kNorm}};
constexpr LinePattern kDetectron2Lines[] = {
    {"iter: {step} total_loss: {loss} ", kDetectron2Also}};
constexpr PatternProgram kDetectron2Program = {kDetectron2Lines};

// YOLOX: iterations of an epoch, epochs from 1.
//  yolox.core.trainer:261 - epoch: 1/300, iter: 10/1849, gpu mem: 9102Mb,
//  iter_time: 0.412s, data_time: 0.003s, total_loss: 13.3, iou_loss: 4.3,
//  l1_loss: 0.0, conf_loss: 6.7, cls_loss: 2.3, lr: 7.500e-06, size: 512, ...
constexpr Mark kYoloxMarks[] = {", iter_time: "};
constexpr LinePattern kYoloxLines[] = {
    {"epoch: {epoch}/{}, iter: {batch}/{whole}, *total_loss: {loss}, *, lr: "
     "{lr},"}};
constexpr PatternProgram kYoloxProgram = {kYoloxLines, Epochs::kFromOne};

// Marian. The cost may be a sentence's or a word's, and stand beside counts.
//  [2025-01-02 10:00:00] Ep. 1 : Up. 1000 : Sen. 90,000 : Cost 7.2601 * 1,201 @
//  312 after 9,000 : Time 61.22s : 41231.22 words/s : gNorm 0.9920 : L.r. 5e-04
constexpr Mark kMarianMarks[] = {" : Cost "};
constexpr Also kMarianAlso[] = {{"gNorm ", kNorm}, {"L.r. ", kRate, kWhole}};
constexpr LinePattern kMarianLines[] = {
    {"Ep. {} : Up. {step} : Sen. {} : Cost {loss} ", kMarianAlso}};
constexpr PatternProgram kMarianProgram = {kMarianLines};

// rsl_rl, of legged_gym and Isaac Lab: a box an iteration. The value's loss is
// the one that is of a size with itself.
//                   Learning iteration 66/30000
//               Value function loss: 0.0438
//                    Surrogate loss: -0.0075
//                    Iteration time: 1.02s
// Later: "Mean value_function loss", "Mean value loss", "Mean surrogate loss".
constexpr Mark kRslRlMarks[] = {
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
constexpr PatternProgram kRslRlProgram = {kRslRlLines};

// timm's training script.
//  Train: 0 [  50/1251 (  4%)]  Loss: 6.932 (6.94)  Time: 0.320s, 400.32/s
//  (0.470s, 272.39/s)  LR: 1.000e-05  Data: 0.217 (0.047)
constexpr Mark kTimmMarks[] = {"%)]"};
constexpr Also kTimmAlso[] = {{"LR: ", kRate}};
constexpr LinePattern kTimmLines[] = {
    {"Train: {epoch} [ {batch}/{whole} (*%)] Loss: {loss} ", kTimmAlso}};
constexpr PatternProgram kTimmProgram = {kTimmLines, Epochs::kFromZero};

// WeNet: a batch of an epoch, on every rank.
//  2021-05-04 10:00:00,123 DEBUG TRAIN Batch 0/100 loss 95.324 loss_att 113.1
//  loss_ctc 53.8 lr 0.00080 grad_norm 5.12 rank 0
constexpr Mark kWeNetMarks[] = {"TRAIN "};
constexpr Also kWeNetAlso[] = {{"lr ", kRate}, {"grad_norm ", kNorm}};
constexpr LinePattern kWeNetLines[] = {
    {"TRAIN *Batch {epoch}/{batch} loss {loss} ", kWeNetAlso, Role::kStep,
     "rank "}};
constexpr PatternProgram kWeNetProgram = {kWeNetLines, Epochs::kSeen};

// PyTorch's example word_language_model, its tutorial on Transformers, and what
// grew out of them: AWD-LSTM, Transformer-XL. Some print as the whole what is
// none.
// | epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 10.04 | loss  7.63 |
// | epoch   1 step      200 |    200 batches | lr 0.00025 | ms/batch 584.91 |
// loss  7.54 | ppl  1882.31
constexpr Mark kWordMarks[] = {"| ms/batch "};
constexpr Also kWordAlso[] = {{"lr ", kRate}};
constexpr LinePattern kWordLines[] = {
    {"| epoch {epoch} step {step} |*| ms/batch *loss {loss} ", kWordAlso},
    {"| epoch {epoch} | {batch}/ {} batches *| ms/batch *loss {loss} ",
     kWordAlso}};
constexpr PatternProgram kWordProgram = {kWordLines, Epochs::kSeen};

// NeMo Automodel.
//  2025-08-05 10:00:04 | INFO | root | step 0 | epoch 0 | loss 12.4089 |
//  grad_norm 2.3849 | lr 5.00e-05 | mem 12.3 GiB
constexpr Mark kAutomodelMarks[] = {" | grad_norm "};
constexpr LinePattern kAutomodelLines[] = {
    {"step {step} | epoch {} | loss {loss} | grad_norm {norm} | lr {lr}"}};
constexpr PatternProgram kAutomodelProgram = {kAutomodelLines};

// MindOCR and MindCV, on MindSpore: batches of an epoch, epochs from 1.
//  mindocr.utils.callbacks INFO - epoch: [1/20] step: [400/4468], loss: 36.5,
//  lr: 0.000083, per step time: 218.586 ms
//  mindcv.utils.callbacks INFO - Epoch: [1/40], batch: [2502/2502], loss: 5.5,
//  lr: 0.039776, time: 935.946804s
constexpr Mark kMindOcrMarks[] = {"mindocr", "mindcv"};
constexpr LinePattern kMindOcrLines[] = {
    {"mindocr*epoch: [{epoch}/{}] step: [{batch}/{whole}], loss: {loss}, lr: "
     "{lr},"},
    {"mindcv*Epoch: [{epoch}/{}], batch: [{batch}/{whole}], loss: {loss}, lr: "
     "{lr},"}};
constexpr PatternProgram kMindOcrProgram = {kMindOcrLines, Epochs::kFromOne};

// PaddleOCR.
//  ppocr INFO: epoch: [1/500], global_step: 400, lr: 0.000104, acc: 0.000000,
//  CTCLoss: 17.400000, loss: 21.600000, avg_reader_cost: 0.00014 s
constexpr Mark kPaddleOcrMarks[] = {"ppocr INFO: epoch: "};
constexpr Also kPaddleOcrAlso[] = {{"loss: ", kLoss}};
constexpr LinePattern kPaddleOcrLines[] = {
    {"ppocr INFO: epoch: [{}/{}], global_step: {step}, lr: {lr}, ",
     kPaddleOcrAlso}};
constexpr PatternProgram kPaddleOcrProgram = {kPaddleOcrLines};

// icefall (k2). "(0/8)" is the rank, of several; the scaler speaks when its
// scale is small.
//  INFO [train.py:1056] (7/8) Epoch 1, batch 13800, loss[loss=0.61, ...],
//  tot_loss[loss=0.61, ...], batch size: 127, lr: 2.73e-02, grad_scale: 1.0
//  WARNING [train.py:1047] (7/8) Grad scale is small: 0.001953125
constexpr Mark kIcefallMarks[] = {", loss[loss=", "Grad scale is small: "};
constexpr Also kIcefallAlso[] = {{"lr: ", kRate},
                                 {"grad_scale: ", kScale, kWhole}};
constexpr LinePattern kIcefallLines[] = {
    {"({rank}/{}) Epoch {epoch}, batch {batch}, loss[loss={loss}, ",
     kIcefallAlso},
    {"Epoch {epoch}, batch {batch}, loss[loss={loss}, ", kIcefallAlso},
    {"Grad scale is small: {scale}", {}, Role::kScale}};
constexpr PatternProgram kIcefallProgram = {kIcefallLines, Epochs::kSeen};

// FunASR; ESPnet says the same of an update that it skips.
//  The grad norm is nan. Skipping updating the model.
//  train, rank: 0, epoch: 0/100, data_slice: 0/1, step_in_slice: 3/44,
//  step_in_epoch: 3, total step: 3, (loss_avg_rank: 24.221), ...,
//  (lr: 3.0e-07),
//  [('loss_ctc', 24.181), ('loss', 24.221)], ...
constexpr Mark kFunAsrMarks[] = {", total step: ", "Skipping updating the"};
constexpr Also kFunAsrAlso[] = {
    {"('loss', ", kLoss}, {"loss_avg_rank: ", kLoss}, {"lr: ", kRate}};
constexpr LinePattern kFunAsrLines[] = {
    {"train, rank: {rank}, epoch: {}, *total step: {step}, ", kFunAsrAlso},
    {"The grad norm is {norm}. Skipping updating the model", {}, Role::kSkip}};
constexpr PatternProgram kFunAsrProgram = {kFunAsrLines};

// nnU-Net: an epoch in lines of a number each; the losses are its means, and
// may be below 0.
//  2024-06-12 18:20:21.625154: Epoch 0
//  2024-06-12 18:20:21.630196: Current learning rate: 0.01
//  2024-06-12 18:25:51.488273: train_loss 0.3602
constexpr Mark kNnUnetMarks[] = {": Epoch ",
                                 ": Current learning rate: ", ": train_loss "};
constexpr LinePattern kNnUnetLines[] = {
    {"*: Epoch {step}", {}, Role::kBegin},
    {"*: Current learning rate: {lr}", {}, Role::kPart},
    {"*: train_loss {loss}", {}, Role::kEnd}};
constexpr PatternProgram kNnUnetProgram = {kNnUnetLines, Epochs::kNone, true};

// Coqui TTS: a line a number, with its mean behind it.
//   --> TIME: 2024-03-18 13:31:34 -- STEP: 25/496 -- GLOBAL_STEP: 25
//     | > loss: 3.63324  (3.53481)
//     | > amp_scaler: 16384.0  (16384.0)
//     | > grad_norm: tensor(10.7261, device='cuda:0')  (9.12)
//     | > current_lr: 2.5e-07
//     | > loader_time: 0.0025  (0.0031)
constexpr Mark kCoquiMarks[] = {"GLOBAL_STEP: ", "| > "};
constexpr LinePattern kCoquiLines[] = {
    {"-- GLOBAL_STEP: {step}", {}, Role::kBegin},
    {"| > loss: {loss} ", {}, Role::kPart},
    {"| > amp_scaler: {scale} ", {}, Role::kPart},
    {"| > grad_norm: {norm} ", {}, Role::kPart},
    {"| > current_lr: {lr}", {}, Role::kPart},
    {"| > loader_time: ", {}, Role::kEnd}};
constexpr PatternProgram kCoquiProgram = {kCoquiLines};

// Stable-Baselines3: a table a log step.
//  -----------------------------------------
//  |    total_timesteps      | 2048        |
//  |    learning_rate        | 0.0003      |
//  |    loss                 | 29          |
//  -----------------------------------------
constexpr Mark kSb3Marks[] = {"------", "| total_timesteps", "total_timesteps ",
                              "loss ",  "learning_rate ",    "ep_rew_mean "};
constexpr LinePattern kSb3Lines[] = {
    {"------", {}, Role::kBegin},
    {"| total_timesteps | {step} |", {}, Role::kPart},
    {"| learning_rate | {lr} |", {}, Role::kPart},
    {"| ep_rew_mean | {score} |", {}, Role::kPart},
    {"| loss | {loss} |", {}, Role::kPart},
    {"| critic_loss | {loss} |", {}, Role::kPart},
    {"| value_loss | {loss} |", {}, Role::kPart}};
constexpr PatternProgram kSb3Program = {kSb3Lines};

}  // namespace

#define NANWATCH_PATTERNED(constant, id, text, of_marks, program) \
  const LogFormat constant = {.name = id,                         \
                              .title = text,                      \
                              .part = Part::kProgress,            \
                              .marks = of_marks,                  \
                              .tells_overflows = false,           \
                              .skips_take_steps = true,           \
                              .make = Patterned<program>}

NANWATCH_PATTERNED(kLlmC, "llm_c", "llm.c", kLlmCMarks, kLlmCProgram);
NANWATCH_PATTERNED(kNanoGpt, "nanogpt",
                   "nanoGPT, build-nanogpt, modded-nanogpt", kNanoGptMarks,
                   kNanoGptProgram);
NANWATCH_PATTERNED(kInsightFace, "insightface", "InsightFace (ArcFace)",
                   kInsightFaceMarks, kInsightFaceProgram);
NANWATCH_PATTERNED(kYolact, "yolact", "YOLACT", kYolactMarks, kYolactProgram);
NANWATCH_PATTERNED(kTacotron2, "tacotron2", "NVIDIA tacotron2", kTacotron2Marks,
                   kTacotron2Program);
NANWATCH_PATTERNED(kMaskRcnn, "maskrcnn",
                   "maskrcnn-benchmark, MLPerf Mask R-CNN", kMaskRcnnMarks,
                   kMaskRcnnProgram);
NANWATCH_PATTERNED(kDetectron2, "detectron2", "Detectron2", kDetectron2Marks,
                   kDetectron2Program);
NANWATCH_PATTERNED(kYolox, "yolox", "YOLOX", kYoloxMarks, kYoloxProgram);
NANWATCH_PATTERNED(kMarian, "marian", "Marian", kMarianMarks, kMarianProgram);
NANWATCH_PATTERNED(kRslRl, "rsl_rl", "rsl_rl (legged_gym, Isaac Lab)",
                   kRslRlMarks, kRslRlProgram);
NANWATCH_PATTERNED(kTimm, "timm", "timm (pytorch-image-models)", kTimmMarks,
                   kTimmProgram);
NANWATCH_PATTERNED(kWeNet, "wenet", "WeNet, CosyVoice", kWeNetMarks,
                   kWeNetProgram);
NANWATCH_PATTERNED(kWordLanguageModel, "word_language_model",
                   "PyTorch's word_language_model, Transformer-XL", kWordMarks,
                   kWordProgram);
NANWATCH_PATTERNED(kAutomodel, "automodel", "NeMo Automodel", kAutomodelMarks,
                   kAutomodelProgram);
NANWATCH_PATTERNED(kMindOcr, "mindocr", "MindOCR, MindCV", kMindOcrMarks,
                   kMindOcrProgram);
NANWATCH_PATTERNED(kPaddleOcr, "paddleocr", "PaddleOCR", kPaddleOcrMarks,
                   kPaddleOcrProgram);
NANWATCH_PATTERNED(kIcefall, "icefall", "icefall (k2)", kIcefallMarks,
                   kIcefallProgram);
NANWATCH_PATTERNED(kFunAsr, "funasr", "FunASR", kFunAsrMarks, kFunAsrProgram);
NANWATCH_PATTERNED(kNnUnet, "nnunet", "nnU-Net", kNnUnetMarks, kNnUnetProgram);
NANWATCH_PATTERNED(kCoqui, "coqui", "Coqui TTS", kCoquiMarks, kCoquiProgram);
NANWATCH_PATTERNED(kSb3, "stable_baselines3", "Stable-Baselines3", kSb3Marks,
                   kSb3Program);

#undef NANWATCH_PATTERNED

}  // namespace nanwatch
