// Every log format there is: a file each, or a row in patterns.cc.

#ifndef NANWATCH_LOGS_FORMATS_FORMATS_H_
#define NANWATCH_LOGS_FORMATS_FORMATS_H_

#include "logs/format.h"

namespace nanwatch {

extern const LogFormat kAutomodel;
extern const LogFormat kCatBoost;
extern const LogFormat kCoqui;
extern const LogFormat kDeepXde;
extern const LogFormat kFunAsr;
extern const LogFormat kIcefall;
extern const LogFormat kMegatron;
extern const LogFormat kMindOcr;
extern const LogFormat kMlLog;
extern const LogFormat kNnUnet;
extern const LogFormat kPaddleOcr;
extern const LogFormat kSb3;
extern const LogFormat kGnmt;
extern const LogFormat kNvidiaBert;
extern const LogFormat kDlLogger;
extern const LogFormat kMaskRcnn;
extern const LogFormat kTacotron2;
extern const LogFormat kMetaseq;
extern const LogFormat kFairseq;
extern const LogFormat kNemo;
extern const LogFormat kGuidedDiffusion;
extern const LogFormat kApex;
extern const LogFormat kDeepSpeed;
extern const LogFormat kDeepSpeedChat;
extern const LogFormat kFp16Optimizer;
extern const LogFormat kTorchNpu;
extern const LogFormat kColossalAi;
extern const LogFormat kInternLm;
extern const LogFormat kWordLanguageModel;
extern const LogFormat kWeNet;
extern const LogFormat kTensorBoard;
extern const LogFormat kWandbHistory;
extern const LogFormat kJsonLines;
extern const LogFormat kCsvTable;
extern const LogFormat kKeyValue;
extern const LogFormat kAlikeLines;
extern const LogFormat kMindFormers;
extern const LogFormat kMindSpore;
extern const LogFormat kMindYolo;
extern const LogFormat kTfNpu;
extern const LogFormat kTfEstimator;
extern const LogFormat kPaddleAmp;
extern const LogFormat kPaddleNlp;
extern const LogFormat kMmcv;
extern const LogFormat kMmEngine;
extern const LogFormat kInsightFace;
extern const LogFormat kEspnet;
extern const LogFormat kYolact;
extern const LogFormat kMaeBeit;
extern const LogFormat kLlamaFactory;
extern const LogFormat kAxolotl;
extern const LogFormat kTrl;
extern const LogFormat kHfTrainer;
extern const LogFormat kLightning;
extern const LogFormat kKeras;
extern const LogFormat kTorchTitan;
extern const LogFormat kNanoGpt;
extern const LogFormat kLitGpt;
extern const LogFormat kVerl;
extern const LogFormat kTimm;
extern const LogFormat kMetricLogger;
extern const LogFormat kImageNet;
extern const LogFormat kLlmC;
extern const LogFormat kDetectron2;
extern const LogFormat kYolox;
extern const LogFormat kMarian;
extern const LogFormat kRslRl;
extern const LogFormat kSpacy;
extern const LogFormat kUltralytics;
extern const LogFormat kLastWords;
extern const LogFormat kResumedWords;
extern const LogFormat kObjectiveWords;
extern const LogFormat kEvaluationWords;
extern const LogFormat kEventTable;

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMATS_FORMATS_H_
