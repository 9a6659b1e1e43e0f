// Patterns of programs that train on speech (patterns.cc).

#include "logs/formats/formats.h"
#include "logs/line_pattern.h"

namespace nanwatch {
namespace {

using Epochs = PatternHabits::Epochs;
using Role = LinePattern::Role;
using Text = std::string_view;

constexpr PatternHabits kSeen = {.epochs = Epochs::kSeen};
constexpr PatternHabits kMeans = {.means = true};
constexpr PatternHabits kSeenMeans = {.epochs = Epochs::kSeen, .means = true};

// ESPnet 2: a line every so many batches, with their means: of the loss scale,
// too, and of norms, which one overflow makes infinite.
//  [host] 2021-03-01 10:11:40,123 (trainer:672) INFO: 1epoch:train:51-100batch:
//  iter_time=1.2e-04, loss_ctc=119.942, acc=0.51, loss=101.951, grad_norm=3.1,
//  clip=100.0, loss_scale=6.554e+04, optim0_lr0=2.000e-06, train_time=0.8
//  The grad norm is nan. Skipping updating the model.
constexpr Text kEspnetMarks[] = {"epoch:train:",
                                 ". Skipping updating the model"};
constexpr Text kEspnetAlso[] = {"loss={loss}", "grad_norm={norm}",
                                "loss_scale={scale}", "optim0_lr0={lr}"};
constexpr LinePattern kEspnetLines[] = {
    {". Skipping updating the model", {}, Role::kSkip},
    {"*{epoch}epoch:train:{}-{batch}batch:", kEspnetAlso}};

// FunASR; ESPnet says the same of an update that it skips.
//  The grad norm is nan. Skipping updating the model.
//  train, rank: 0, epoch: 0/100, data_slice: 0/1, step_in_slice: 3/44,
//  step_in_epoch: 3, total step: 3, (loss_avg_rank: 24.221), ...,
//  (lr: 3.0e-07),
//  [('loss_ctc', 24.181), ('loss', 24.221)], ...
constexpr Text kFunAsrMarks[] = {", total step: ", "Skipping updating the"};
constexpr Text kFunAsrAlso[] = {"('loss', {loss}", "loss_avg_rank: {loss}",
                                "lr: {lr}"};
constexpr LinePattern kFunAsrLines[] = {
    {"train, rank: {rank}, epoch: {}, *total step: {step}, ", kFunAsrAlso},
    {"The grad norm is {norm}. Skipping updating the model", {}, Role::kSkip}};

// icefall (k2) and its relatives, whose lines say more before the loss, or call
// it train_loss. "(0/8)" is the rank, of several; the scaler speaks when its
// scale is small.
//  INFO [train.py:1056] (7/8) Epoch 1, batch 13800, loss[loss=0.61, ...],
//  tot_loss[loss=0.61, ...], batch size: 127, lr: 2.73e-02, grad_scale: 1.0
//  WARNING [train.py:1047] (7/8) Grad scale is small: 0.001953125
constexpr Text kIcefallMarks[] = {"loss[loss=", "Grad scale is small: "};
constexpr Text kIcefallAlso[] = {"lr: {lr}", "cur_lr: {lr}",
                                 "grad_scale: {scale}$"};
constexpr LinePattern kIcefallLines[] = {
    {"({rank}/{}) Epoch {epoch}, batch {batch}, *loss[loss={loss}, ",
     kIcefallAlso},
    {"Epoch {epoch}, batch {batch}, *loss[loss={loss}, ", kIcefallAlso},
    {"Grad scale is small: {scale}", {}, Role::kScale}};

// WeNet: a batch of an epoch, on every rank.
//  2021-05-04 10:00:00,123 DEBUG TRAIN Batch 0/100 loss 95.324 loss_att 113.1
//  loss_ctc 53.8 lr 0.00080 grad_norm 5.12 rank 0
constexpr Text kWeNetMarks[] = {"TRAIN "};
constexpr Text kWeNetAlso[] = {"lr {lr}", "grad_norm {norm}", "rank {rank}$"};
constexpr LinePattern kWeNetLines[] = {
    {"TRAIN *Batch {epoch}/{batch} loss {loss} ", kWeNetAlso}};

// tacotron2 and waveglow: a line a step that was applied.
//  Train loss 16 49.316841 Grad Norm 10.800460 3.71s/it
constexpr Text kTacotron2Marks[] = {"Train loss "};
constexpr Text kTacotron2Also[] = {"Grad Norm {norm}"};
constexpr LinePattern kTacotron2Lines[] = {
    {"Train loss {step} {loss} Grad Norm ", kTacotron2Also}};

// The same of a log of its evaluations alone.
//  Validation loss 526:  0.420375
constexpr Text kTacotron2EvaluatedMarks[] = {"Validation loss "};
constexpr LinePattern kTacotron2EvaluatedLines[] = {
    {"Validation loss {step}: {loss}"}};

// Coqui TTS: a line a number, with its mean behind it.
//   --> TIME: 2024-03-18 13:31:34 -- STEP: 25/496 -- GLOBAL_STEP: 25
//     | > loss: 3.63324  (3.53481)
//     | > amp_scaler: 16384.0  (16384.0)
//     | > grad_norm: tensor(10.7261, device='cuda:0')  (9.12)
//     | > current_lr: 2.5e-07
//     | > loader_time: 0.0025  (0.0031)
constexpr Text kCoquiMarks[] = {"GLOBAL_STEP: ", "| > "};
constexpr LinePattern kCoquiLines[] = {
    {"-- GLOBAL_STEP: {step}", {}, Role::kBegin},
    {"| > loss: {loss} ", {}, Role::kPart},
    {"| > loss_0: {loss} ", {}, Role::kPart},
    {"| > amp_scaler: {scale} ", {}, Role::kPart},
    {"| > grad_norm: {norm} ", {}, Role::kPart},
    {"| > grad_norm_0: {norm} ", {}, Role::kPart},
    {"| > current_lr: {lr}", {}, Role::kPart},
    {"| > loader_time: ", {}, Role::kEnd}};

// Kaldi's nnet3: a line every so many minibatches, with their means of an
// objective that rises; a sum where a part is added to it.
//  LOG (nnet3-train[5.5]:PrintStatsForThisPhase():nnet-training.cc:279) Average
//  objective function for 'output' for minibatches 10-19 is -4.69 over 193
//  frames.
//  ... for minibatches 100-199 is -0.29 + -0.01 = -0.3 over 5812 frames.
constexpr Text kKaldiMarks[] = {"Average objective function for 'output' "};
constexpr LinePattern kKaldiLines[] = {
    {"Average objective function for 'output' for minibatches {}-{step} is {} "
     "+ {} = {objective} over "},
    {"Average objective function for 'output' for minibatches {}-{step} is "
     "{objective} over "}};

}  // namespace

const LogFormat kEspnet =
    PatternFormat<kEspnetLines, kSeenMeans>("espnet", "ESPnet 2", kEspnetMarks);
const LogFormat kFunAsr =
    PatternFormat<kFunAsrLines>("funasr", "FunASR", kFunAsrMarks);
const LogFormat kIcefall = PatternFormat<kIcefallLines, kSeen>(
    "icefall", "icefall (k2)", kIcefallMarks);
const LogFormat kWeNet =
    PatternFormat<kWeNetLines, kSeen>("wenet", "WeNet, CosyVoice", kWeNetMarks);
const LogFormat kTacotron2 = PatternFormat<kTacotron2Lines>(
    "tacotron2", "NVIDIA tacotron2", kTacotron2Marks);
const LogFormat kTacotron2Evaluated = PatternFormat<kTacotron2EvaluatedLines>(
    "tacotron2_evaluated", "NVIDIA tacotron2, its evaluations alone",
    kTacotron2EvaluatedMarks);
const LogFormat kCoqui =
    PatternFormat<kCoquiLines>("coqui", "Coqui TTS", kCoquiMarks);
const LogFormat kKaldi =
    PatternFormat<kKaldiLines, kMeans>("kaldi", "Kaldi nnet3", kKaldiMarks);

}  // namespace nanwatch
