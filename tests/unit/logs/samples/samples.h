// Sample lines of each log format, a table a file: lines in the texture of the
// program's, and what they say.

#ifndef NANWATCH_TESTS_UNIT_LOGS_SAMPLES_SAMPLES_H_
#define NANWATCH_TESTS_UNIT_LOGS_SAMPLES_SAMPLES_H_

#include <span>
#include <string_view>

namespace nanwatch {

struct SampleLines {
  std::string_view what;
  std::string_view lines;  // separated by \n
  std::string_view facts;  // as ToldFacts() says them, without the last \n
};

struct SampleTable {
  std::string_view format;  // its name
  std::span<const SampleLines> lines;
  // Another program's format that may read these lines, too; empty: none.
  std::string_view also = "";
};

// A table a format; all stand in AllSampleTables().
extern const SampleTable kApexSamples;
extern const SampleTable kAxolotlSamples;
extern const SampleTable kAutomodelSamples;
extern const SampleTable kMindOcrSamples;
extern const SampleTable kMlLogSamples;
extern const SampleTable kPaddleOcrSamples;
extern const SampleTable kIcefallSamples;
extern const SampleTable kFunAsrSamples;
extern const SampleTable kNnUnetSamples;
extern const SampleTable kCoquiSamples;
extern const SampleTable kKaldiSamples;
extern const SampleTable kDl4jSamples;
extern const SampleTable kTesseractSamples;
extern const SampleTable kTacotron2EvaluatedSamples;
extern const SampleTable kSb3Samples;
extern const SampleTable kYoloxSamples;
extern const SampleTable kMarianSamples;
extern const SampleTable kRslRlSamples;
extern const SampleTable kDeepXdeSamples;
extern const SampleTable kCatBoostSamples;
extern const SampleTable kSpacySamples;
extern const SampleTable kColossalAiSamples;
extern const SampleTable kCsvTableSamples;
extern const SampleTable kDeepSpeedSamples;
extern const SampleTable kDeepSpeedChatSamples;
extern const SampleTable kDetectron2Samples;
extern const SampleTable kDlLoggerSamples;
extern const SampleTable kEventTableSamples;
extern const SampleTable kFairseqSamples;
extern const SampleTable kFp16OptimizerSamples;
extern const SampleTable kGnmtSamples;
extern const SampleTable kGuidedDiffusionSamples;
extern const SampleTable kHfTrainerSamples;
extern const SampleTable kImageNetSamples;
extern const SampleTable kInsightFaceSamples;
extern const SampleTable kEspnetSamples;
extern const SampleTable kYolactSamples;
extern const SampleTable kDarknetSamples;
extern const SampleTable kInternLmSamples;
extern const SampleTable kJsonLinesSamples;
extern const SampleTable kKerasSamples;
extern const SampleTable kKeyValueSamples;
extern const SampleTable kLastWordsSamples;
extern const SampleTable kResumedWordsSamples;
extern const SampleTable kObjectiveWordsSamples;
extern const SampleTable kEvaluationAccuracySamples;
extern const SampleTable kEvaluationWordsSamples;
extern const SampleTable kSkipWordsSamples;
extern const SampleTable kLostLossesSamples;
extern const SampleTable kRunSummarySamples;
extern const SampleTable kLightningSamples;
extern const SampleTable kLinguaSamples;
extern const SampleTable kLitGptSamples;
extern const SampleTable kLlamaFactorySamples;
extern const SampleTable kAlikeLinesSamples;
extern const SampleTable kLlmCSamples;
extern const SampleTable kMaeBeitSamples;
extern const SampleTable kMaskRcnnSamples;
extern const SampleTable kMegatronSamples;
extern const SampleTable kMetaseqSamples;
extern const SampleTable kMetricLoggerSamples;
extern const SampleTable kMindFormersSamples;
extern const SampleTable kMindSporeSamples;
extern const SampleTable kMindYoloSamples;
extern const SampleTable kMmcvSamples;
extern const SampleTable kMmEngineSamples;
extern const SampleTable kNanoGptSamples;
extern const SampleTable kNemoSamples;
extern const SampleTable kNvidiaBertSamples;
extern const SampleTable kPaddleAmpSamples;
extern const SampleTable kPaddleNlpSamples;
extern const SampleTable kTacotron2Samples;
extern const SampleTable kTfEstimatorSamples;
extern const SampleTable kTfNpuSamples;
extern const SampleTable kTimmSamples;
extern const SampleTable kTorchNpuSamples;
extern const SampleTable kTorchTitanSamples;
extern const SampleTable kTrlSamples;
extern const SampleTable kUltralyticsSamples;
extern const SampleTable kVerlSamples;
extern const SampleTable kWandbHistorySamples;
extern const SampleTable kWeNetSamples;
extern const SampleTable kWordLanguageModelSamples;

std::span<const SampleTable* const> AllSampleTables();

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_LOGS_SAMPLES_SAMPLES_H_
