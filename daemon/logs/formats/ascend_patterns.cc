// Patterns of programs on Ascend (patterns.cc).

#include "logs/formats/formats.h"
#include "logs/line_pattern.h"

namespace nanwatch {
namespace {

using Epochs = PatternHabits::Epochs;
using Role = LinePattern::Role;
using Text = std::string_view;

constexpr PatternHabits kSeen = {.epochs = Epochs::kSeen};
constexpr PatternHabits kFromOne = {.epochs = Epochs::kFromOne};

// MindFormers on Ascend, old and new lines: a step, its loss, whether it
// overflowed, and the loss scale as float32 prints it (268435460.0 is 2^28).
// With data sinking there is one line for several steps, and only the last one
// says whether it overflowed.
//  Epoch:[  1/  2], step:[    4/  125], loss:[2.244/2.244], time:507.205 ms,
//  lr:[0.], overflow cond: True, loss_scale: 268435460.0
//  { Epoch:[  1/  2], step:[    1/   19], loss: 10.649, per_step_time: 1752ms,
//  lr: 1e-05, overflow cond: False, loss_scale: 1.0, global_norm: [1.31]
constexpr Text kMindFormersMarks[] = {"overflow cond: "};
constexpr Text kMindFormersAlso[] = {"lr:{lr}", "loss_scale:{scale}$.",
                                     "global_norm:{norm}"};
constexpr LinePattern kMindFormersLines[] = {
    {"Epoch:[{epoch}/ {}], step:[{batch}/{whole}], loss:{loss}*overflow cond: "
     "{overflow}",
     kMindFormersAlso}};

// MindSpore's own callbacks: LossMonitor, and the lines of the BERT, GPT and
// PanGu examples, which print loss, overflow and loss scale, some as one tuple.
// Only LossMonitor's steps begin anew in each epoch.
//  epoch: 1 step: 12, loss is 2.3005836
//  epoch: 1 step: 12, loss is 2.3005836, overflow is True, loss scale is 1.0
//  time: Wed May  1 10:00:00 2024 local_rank: 0, epoch: 0, step: 12, output is
//  10.563198, overflow is False, scale is 65536.0
//  epoch: 0.0, current epoch percent: 0.000, step: 12, outputs are (Tensor(
//  shape=[1], dtype=Float32, [ 1.0856101e+01]), Tensor(shape=[], dtype=Bool,
//  value= False), Tensor(shape=[], dtype=Float32, value= 65536))
constexpr Text kMindSporeMarks[] = {", loss is ", ", output is ",
                                    "outputs are ("};
constexpr Text kMindSporeAlso[] = {"scale is {scale}$."};
constexpr LinePattern kMindSporeLines[] = {
    {"epoch: {epoch}*step: {batch}, loss is {loss}, overflow is {overflow}",
     kMindSporeAlso},
    {"epoch: {epoch}*step: {batch}, loss is {loss}"},
    {"epoch: *step: {step}, output is {loss}, overflow is {overflow}",
     kMindSporeAlso},
    {"epoch: *step: {step}, output is {loss}, "},
    {"epoch: *step: {step}, outputs are "
     "(*dtype=*,*{loss}*Bool,*{overflow}*dtype=*,*{scale})"},
    {"epoch: *step: {step}, outputs are (*dtype=*,*{loss}"}};

// MindOCR and MindCV, on MindSpore: batches of an epoch, epochs from 1.
//  mindocr.utils.callbacks INFO - epoch: [1/20] step: [400/4468], loss: 36.5,
//  lr: 0.000083, per step time: 218.586 ms
//  mindcv.utils.callbacks INFO - Epoch: [1/40], batch: [2502/2502], loss: 5.5,
//  lr: 0.039776, time: 935.946804s
constexpr Text kMindOcrMarks[] = {"mindocr", "mindcv"};
constexpr LinePattern kMindOcrLines[] = {
    {"mindocr*epoch: [{epoch}/{}] step: [{batch}/{whole}], loss: {loss}, lr: "
     "{lr},"},
    {"mindcv*Epoch: [{epoch}/{}], batch: [{batch}/{whole}], loss: {loss}, lr: "
     "{lr},"}};

// The loss scale that TensorFlow on Ascend prints at each step of BERT, on each
// rank and often into another line. It says nothing of overflows.
//  loss_scale:[65536.0]
constexpr Text kTfNpuMarks[] = {"loss_scale:["};
constexpr LinePattern kTfNpuLines[] = {
    {"loss_scale:[{scale}]", {}, Role::kScale}};

}  // namespace

const LogFormat kMindFormers = PatternFormat<kMindFormersLines, kFromOne>(
    "mindformers", "MindFormers (MindSpore), old and new", kMindFormersMarks);
const LogFormat kMindSpore = PatternFormat<kMindSporeLines, kSeen>(
    "mindspore", "MindSpore (LossMonitor, BERT, GPT and PanGu examples)",
    kMindSporeMarks);
const LogFormat kMindOcr = PatternFormat<kMindOcrLines, kFromOne>(
    "mindocr", "MindOCR, MindCV", kMindOcrMarks);
const LogFormat kTfNpu = PatternFormat<kTfNpuLines>(
    "tf_npu", "TensorFlow on Ascend (loss scale lines)", kTfNpuMarks,
    LogFormat::Part::kScaler);

}  // namespace nanwatch
