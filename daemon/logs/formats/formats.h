// Every log format there is: a file each, or a row of a file of patterns.

#ifndef NANWATCH_LOGS_FORMATS_FORMATS_H_
#define NANWATCH_LOGS_FORMATS_FORMATS_H_

#include "logs/format.h"

// A line a format. Programs, the more particular before the more general: of
// two that read the same lines, the one above is believed. Then libraries' loss
// scalers, and what ends a program, beside any of the others. Then those for
// logs of no known program.
#define NANWATCH_LOG_FORMATS(X) \
  X(kEventTable)                \
  X(kMegatron)                  \
  X(kGnmt)                      \
  X(kNvidiaBert)                \
  X(kDlLogger)                  \
  X(kMaskRcnn)                  \
  X(kTacotron2)                 \
  X(kTacotron2Evaluated)        \
  X(kFairseq)                   \
  X(kMetaseq)                   \
  X(kNemo)                      \
  X(kGuidedDiffusion)           \
  X(kMindFormers)               \
  X(kMindSpore)                 \
  X(kMindYolo)                  \
  X(kMindOcr)                   \
  X(kTfNpu)                     \
  X(kTfEstimator)               \
  X(kPaddleAmp)                 \
  X(kPaddleNlp)                 \
  X(kPaddleOcr)                 \
  X(kMmcv)                      \
  X(kMmEngine)                  \
  X(kInsightFace)               \
  X(kEspnet)                    \
  X(kFunAsr)                    \
  X(kIcefall)                   \
  X(kCoqui)                     \
  X(kKaldi)                     \
  X(kNnUnet)                    \
  X(kSb3)                       \
  X(kAutomodel)                 \
  X(kMlLog)                     \
  X(kYolact)                    \
  X(kDarknet)                   \
  X(kMaeBeit)                   \
  X(kLlamaFactory)              \
  X(kAxolotl)                   \
  X(kTrl)                       \
  X(kHfTrainer)                 \
  X(kLightning)                 \
  X(kKeras)                     \
  X(kTorchTitan)                \
  X(kLingua)                    \
  X(kNanoGpt)                   \
  X(kLitGpt)                    \
  X(kVerl)                      \
  X(kInternLm)                  \
  X(kWordLanguageModel)         \
  X(kWeNet)                     \
  X(kDeepSpeedChat)             \
  X(kTimm)                      \
  X(kMetricLogger)              \
  X(kImageNet)                  \
  X(kLlmC)                      \
  X(kDetectron2)                \
  X(kYolox)                     \
  X(kMarian)                    \
  X(kDl4j)                      \
  X(kTesseract)                 \
  X(kRslRl)                     \
  X(kSpacy)                     \
  X(kUltralytics)               \
  X(kDeepXde)                   \
  X(kCatBoost)                  \
  X(kTensorBoard)               \
  X(kApex)                      \
  X(kDeepSpeed)                 \
  X(kFp16Optimizer)             \
  X(kTorchNpu)                  \
  X(kColossalAi)                \
  X(kLastWords)                 \
  X(kResumedWords)              \
  X(kObjectiveWords)            \
  X(kEvaluationWords)           \
  X(kEvaluationAccuracy)        \
  X(kSkipWords)                 \
  X(kLostLosses)                \
  X(kWandbHistory)              \
  X(kJsonLines)                 \
  X(kCsvTable)                  \
  X(kKeyValue)                  \
  X(kAlikeLines)                \
  X(kRunSummary)

namespace nanwatch {

#define NANWATCH_DECLARED(format) extern const LogFormat format;
NANWATCH_LOG_FORMATS(NANWATCH_DECLARED)
#undef NANWATCH_DECLARED

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMATS_FORMATS_H_
