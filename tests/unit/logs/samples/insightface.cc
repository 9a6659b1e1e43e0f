// InsightFace (ArcFace): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"the scale, and none",
     "Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss "
     "44.2500   LearningRate 0.099900   Epoch: 0   Global Step: 100   Fp16 "
     "Grad Scale: 65536   Required: 13 hours\n"
     "Training: 2021-12-03 22:57:24,201-Speed 2744.89 samples/sec   Loss nan   "
     "LearningRate 0.0999   Epoch: 0   Global Step: 150   Required: 13 hours",
     "step=100 loss=44.25 loss_scale=65536 learning_rate=0.0999\n"
     "step=150 loss=nan learning_rate=0.0999"},
    {"a scale rounded to 0",
     "Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss "
     "44.2500   LearningRate 0.1000   Epoch: 3   Global Step: 9100   Fp16 Grad "
     "Scale:  0   Required: 13 hours",
     "step=9100 loss=44.25 loss_scale<=0.5 learning_rate=0.1"},
    {"torn",
     "Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss "
     "44.2500   LearningRate 0.1000   Epoch: 3   Global Step: 91",
     ""},
};

}  // namespace

const SampleTable kInsightFaceSamples = {"insightface", kLines};

}  // namespace nanwatch
