// Patterns of programs that train on pictures (patterns.cc).

#include "logs/formats/formats.h"
#include "logs/line_pattern.h"

namespace nanwatch {
namespace {

using Epochs = PatternHabits::Epochs;
using Role = LinePattern::Role;
using Text = std::string_view;

constexpr PatternHabits kFromOne = {.epochs = Epochs::kFromOne};
constexpr PatternHabits kFromZero = {.epochs = Epochs::kFromZero};
constexpr PatternHabits kMeans = {.means = true};
constexpr PatternHabits kLineAnEpoch = {.epochs = Epochs::kStep};

// The ImageNet examples of PyTorch, Apex and torch_npu, and what was made of
// them (MoCo, HRNet, SwAV): the batch's value and, in brackets, the epoch's
// mean. SwAV does not print how many batches an epoch has.
//  Epoch: [0][10/5004]\tTime 0.345 (0.401)\tSpeed 742.1 (638.4)\tLoss 6.93
//  (6.95)\tPrec@1 0.391 (0.102)\tPrec@5 1.953 (0.611)
//  INFO - 05/30/20 10:12:11 - 0:12:01 - Epoch: [0][50]\tTime 0.412 (0.431)
//  \tData 0.010 (0.020)\tLoss 7.4404 (7.5404)\tLr: 0.3000
constexpr Text kImageNetMarks[] = {"\tLoss "};
constexpr LinePattern kImageNetLines[] = {
    {"Epoch: [{epoch}][{batch}/{whole}]\t*\tLoss {loss} ("},
    {"Epoch: [{epoch}][{batch}]\t*\tLoss {loss} ("}};

// The MetricLogger of torchvision's references, which DeiT, MAE, BEiT, DINO and
// many others took over, and Swin's lines. A value is the median of the last
// lines' and, in brackets, the mean of the epoch.
//  Epoch: [0]  [  20/1251]  eta: 0:25:11  lr: 0.000001  loss: 6.9331 (6.9400)
//  loss_scale: 65536.0000 (65536.0000)  grad_norm: 1.2 (1.3)  time: 0.5
//  Train: [0/300][10/1251]\teta 0:25:12 lr 0.000001\ttime 0.3 (0.5)\tloss
//  6.9331 (6.9400)\tgrad_norm 1.2 (1.3)\tloss_scale 65536.0 (65536.0)
constexpr Text kMetricLoggerMarks[] = {"Epoch: [", "Train: ["};
constexpr Text kMetricLoggerAlso[] = {"loss: {loss}", "grad_norm: {norm}",
                                      "lr: {lr}", "loss_scale: {scale}"};
constexpr Text kSwinAlso[] = {"loss {loss}", "grad_norm {norm}", "lr {lr}",
                              "loss_scale {scale}"};
constexpr LinePattern kMetricLoggerLines[] = {
    {"Epoch: [{epoch}]  [{batch}/{whole}]  ", kMetricLoggerAlso},
    {"Train: [{epoch}/{}][{batch}/{whole}]", kSwinAlso}};

// MAE, BEiT, DeiT, DETR and their relatives: a JSON line an epoch with its
// means, the rate first, in Python's JSON, which has NaN and Infinity.
//  {"train_lr": 0.0001, "train_loss": 6.91, "train_loss_scale": 853.33,
//  "train_grad_norm": Infinity, "test_loss": 5.1, "epoch": 3}
constexpr Text kMaeBeitMarks[] = {"\"train_lr\": "};
constexpr Text kMaeBeitAlso[] = {"\"train_grad_norm\": {norm}",
                                 "\"train_loss_scale\": {scale}",
                                 "\"epoch\": {epoch}"};
constexpr LinePattern kMaeBeitLines[] = {
    {"^*\"train_lr\": {lr}*\"train_loss\": {loss}", kMaeBeitAlso}};

// timm's training script.
//  Train: 0 [  50/1251 (  4%)]  Loss: 6.932 (6.94)  Time: 0.320s, 400.32/s
//  (0.470s, 272.39/s)  LR: 1.000e-05  Data: 0.217 (0.047)
constexpr Text kTimmMarks[] = {"%)]"};
constexpr Text kTimmAlso[] = {"LR: {lr}"};
constexpr LinePattern kTimmLines[] = {
    {"Train: {epoch} [ {batch}/{whole} (*%)] Loss: {loss} ", kTimmAlso}};

// InsightFace's ArcFace. The scale is printed with %2.f: 0 is less than a half.
//  Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss 44.2134
//  LearningRate 0.0999   Epoch: 0   Global Step: 100   Fp16 Grad Scale: 65536
//  Required: 13 hours
constexpr Text kInsightFaceMarks[] = {"Global Step: "};
constexpr Text kInsightFaceAlso[] = {"LearningRate {lr}",
                                     "Fp16 Grad Scale:{scale}"};
constexpr LinePattern kInsightFaceLines[] = {
    {"samples/sec Loss {loss} *Global Step: {step} ", kInsightFaceAlso}};

// YOLACT: losses by their letters, T is their sum.
//  [  0]      50 || B: 1.861 | C: 2.481 | M: 1.241 | S: 0.620 | T: 6.203 ||
//  ETA: 3 days, 4:11:12 || timer: 0.512
constexpr Text kYolactMarks[] = {" || ETA: "};
constexpr LinePattern kYolactLines[] = {
    {"[ {epoch}] {step} || * | T: {loss} || ETA: "}};

// maskrcnn-benchmark (MLPerf Mask R-CNN). Numbers are medians of the last 20
// steps, in parentheses means of all.
//  ... eta: 4:19:20  iter: 20  loss: 5.1036 (6.3)  ...  lr: 0.0026  max mem: 10
constexpr Text kMaskRcnnMarks[] = {"  loss: "};
constexpr Text kMaskRcnnAlso[] = {"lr: {lr}"};
constexpr LinePattern kMaskRcnnLines[] = {
    {"eta: * iter: {step} loss: {loss} (", kMaskRcnnAlso}};

// Detectron2's metric printer.
//  [09/02 02:37:00 d2.utils.events]:  eta: 0:10:00  iter: 19  total_loss: 2.1
//  loss_cls: 0.9  time: 0.3  data_time: 0.01  lr: 1.6e-05  max_mem: 2000M
constexpr Text kDetectron2Marks[] = {"total_loss: "};
constexpr Text kDetectron2Also[] = {"lr: {lr}", "grad_norm: {norm}"};
constexpr LinePattern kDetectron2Lines[] = {
    {"iter: {step} total_loss: {loss} ", kDetectron2Also}};

// YOLOX: iterations of an epoch, epochs from 1.
//  yolox.core.trainer:261 - epoch: 1/300, iter: 10/1849, gpu mem: 9102Mb,
//  iter_time: 0.412s, data_time: 0.003s, total_loss: 13.3, iou_loss: 4.3,
//  l1_loss: 0.0, conf_loss: 6.7, cls_loss: 2.3, lr: 7.500e-06, size: 512, ...
constexpr Text kYoloxMarks[] = {", iter_time: "};
constexpr LinePattern kYoloxLines[] = {
    {"epoch: {epoch}/{}, iter: {batch}/{whole}, *total_loss: {loss}, *, lr: "
     "{lr},"}};

// nnU-Net: an epoch in lines of a number each; the losses are its means, and
// may be below 0.
//  2024-06-12 18:20:21.625154: Epoch 0
//  2024-06-12 18:20:21.630196: Current learning rate: 0.01
//  2024-06-12 18:25:51.488273: train_loss 0.3602
constexpr Text kNnUnetMarks[] = {": Epoch ",
                                 ": Current learning rate: ", ": train_loss "};
constexpr LinePattern kNnUnetLines[] = {
    {"*: Epoch {step}", {}, Role::kBegin},
    {"*: Current learning rate: {lr}", {}, Role::kPart},
    {"*: train_loss {loss}", {}, Role::kEnd}};

// PaddleOCR.
//  ppocr INFO: epoch: [1/500], global_step: 400, lr: 0.000104, acc: 0.000000,
//  CTCLoss: 17.400000, loss: 21.600000, avg_reader_cost: 0.00014 s
constexpr Text kPaddleOcrMarks[] = {"ppocr INFO: epoch: "};
constexpr Text kPaddleOcrAlso[] = {"loss: {loss}"};
constexpr LinePattern kPaddleOcrLines[] = {
    {"ppocr INFO: epoch: [{}/{}], global_step: {step}, lr: {lr}, ",
     kPaddleOcrAlso}};

// darknet: YOLO and its classifiers. A region without an object has means over
// none, "-nan".
//  Region 82 Avg IOU: -nan, Class: -nan, Obj: -nan, No Obj: 0.4, count: 0
//  12: 734.812500, 745.125000 avg, 0.000100 rate, 3.512345 seconds, 768 images
//  (next mAP calculation at 1000 iterations)
//  12: 734.812500, 745.125000 avg loss, 0.000100 rate, 3.5 seconds, 768 images,
//  5.21 hours left
constexpr Text kDarknetMarks[] = {" rate, ", "egion "};
constexpr LinePattern kDarknetLines[] = {
    {"egion ", {}, Role::kNothing},
    {"*{step}: {loss}, {} avg, {lr} rate, {} seconds, {} images"},
    {"*{step}: {loss}, {} avg loss, {lr} rate, {} seconds, {} images"}};

}  // namespace

const LogFormat kImageNet = PatternFormat<kImageNetLines, kFromZero>(
    "imagenet", "ImageNet examples of PyTorch, Apex and torch_npu, MoCo, HRNet",
    kImageNetMarks);
const LogFormat kMetricLogger = PatternFormat<kMetricLoggerLines, kFromZero>(
    "metric_logger", "DeiT, MAE, BEiT, DINO, torchvision references, Swin",
    kMetricLoggerMarks);
const LogFormat kMaeBeit = PatternFormat<kMaeBeitLines, kLineAnEpoch>(
    "mae_beit", "MAE, BEiT, DeiT, DETR and relatives (log.txt)", kMaeBeitMarks);
const LogFormat kTimm = PatternFormat<kTimmLines, kFromZero>(
    "timm", "timm (pytorch-image-models)", kTimmMarks);
const LogFormat kInsightFace = PatternFormat<kInsightFaceLines>(
    "insightface", "InsightFace (ArcFace)", kInsightFaceMarks);
const LogFormat kYolact =
    PatternFormat<kYolactLines>("yolact", "YOLACT", kYolactMarks);
const LogFormat kMaskRcnn = PatternFormat<kMaskRcnnLines>(
    "maskrcnn", "maskrcnn-benchmark, MLPerf Mask R-CNN", kMaskRcnnMarks);
const LogFormat kDetectron2 = PatternFormat<kDetectron2Lines>(
    "detectron2", "Detectron2", kDetectron2Marks);
const LogFormat kYolox =
    PatternFormat<kYoloxLines, kFromOne>("yolox", "YOLOX", kYoloxMarks);
const LogFormat kNnUnet =
    PatternFormat<kNnUnetLines, kMeans>("nnunet", "nnU-Net", kNnUnetMarks);
const LogFormat kPaddleOcr =
    PatternFormat<kPaddleOcrLines>("paddleocr", "PaddleOCR", kPaddleOcrMarks);
const LogFormat kDarknet =
    PatternFormat<kDarknetLines>("darknet", "darknet (YOLO)", kDarknetMarks);

}  // namespace nanwatch
