#include "logs/formats/formats.h"

namespace nanwatch {
namespace {

// A line a format. Progress first, the more particular before the more general:
// of two that read the same lines, the one above is believed.
constexpr const LogFormat* kFormats[] = {
    &kEventTable,
    &kMegatron,
    &kGnmt,
    &kNvidiaBert,
    &kDlLogger,
    &kMaskRcnn,
    &kTacotron2,
    &kFairseq,
    &kMetaseq,
    &kNemo,
    &kGuidedDiffusion,
    &kMindFormers,
    &kMindSpore,
    &kMindYolo,
    &kMindOcr,
    &kTfNpu,
    &kTfEstimator,
    &kPaddleAmp,
    &kPaddleNlp,
    &kPaddleOcr,
    &kMmcv,
    &kMmEngine,
    &kInsightFace,
    &kEspnet,
    &kFunAsr,
    &kIcefall,
    &kCoqui,
    &kNnUnet,
    &kSb3,
    &kAutomodel,
    &kMlLog,
    &kYolact,
    &kMaeBeit,
    &kLlamaFactory,
    &kAxolotl,
    &kTrl,
    &kHfTrainer,
    &kLightning,
    &kKeras,
    &kTorchTitan,
    &kNanoGpt,
    &kLitGpt,
    &kVerl,
    &kInternLm,
    &kWordLanguageModel,
    &kWeNet,
    &kDeepSpeedChat,
    &kTimm,
    &kMetricLogger,
    &kImageNet,
    &kLlmC,
    &kDetectron2,
    &kYolox,
    &kMarian,
    &kRslRl,
    &kSpacy,
    &kUltralytics,
    &kDeepXde,
    &kCatBoost,
    &kTensorBoard,
    // Libraries' loss scalers, and what ends a program, beside any of the
    // others.
    &kApex,
    &kDeepSpeed,
    &kFp16Optimizer,
    &kTorchNpu,
    &kColossalAi,
    &kLastWords,
    &kResumedWords,
    &kObjectiveWords,
    &kEvaluationWords,
    // For logs of no known program.
    &kWandbHistory,
    &kJsonLines,
    &kCsvTable,
    &kKeyValue,
    &kAlikeLines,
};

}  // namespace

std::span<const LogFormat* const> AllLogFormats() { return kFormats; }

const LogFormat* FindLogFormat(std::string_view name) {
  for (const LogFormat* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace nanwatch
