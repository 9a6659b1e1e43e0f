#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr const SampleTable* kTables[] = {
    &kApexSamples,
    &kAxolotlSamples,
    &kColossalAiSamples,
    &kCsvTableSamples,
    &kDeepSpeedSamples,
    &kDeepSpeedChatSamples,
    &kDetectron2Samples,
    &kDlLoggerSamples,
    &kEventTableSamples,
    &kFairseqSamples,
    &kFp16OptimizerSamples,
    &kGnmtSamples,
    &kGuidedDiffusionSamples,
    &kHfTrainerSamples,
    &kImageNetSamples,
    &kInsightFaceSamples,
    &kEspnetSamples,
    &kYolactSamples,
    &kInternLmSamples,
    &kJsonLinesSamples,
    &kKerasSamples,
    &kKeyValueSamples,
    &kLastWordsSamples,
    &kLightningSamples,
    &kLitGptSamples,
    &kLlamaFactorySamples,
    &kLlmCSamples,
    &kMaeBeitSamples,
    &kMaskRcnnSamples,
    &kMegatronSamples,
    &kMetaseqSamples,
    &kMetricLoggerSamples,
    &kMindFormersSamples,
    &kMindSporeSamples,
    &kMindYoloSamples,
    &kMmcvSamples,
    &kMmEngineSamples,
    &kNanoGptSamples,
    &kNemoSamples,
    &kNvidiaBertSamples,
    &kPaddleAmpSamples,
    &kPaddleNlpSamples,
    &kTacotron2Samples,
    &kTfEstimatorSamples,
    &kTfNpuSamples,
    &kTimmSamples,
    &kTorchNpuSamples,
    &kTorchTitanSamples,
    &kTrlSamples,
    &kUltralyticsSamples,
    &kVerlSamples,
    &kWandbHistorySamples,
    &kWeNetSamples,
    &kWordLanguageModelSamples,
};

}  // namespace

std::span<const SampleTable* const> AllSampleTables() { return kTables; }

}  // namespace nanwatch
