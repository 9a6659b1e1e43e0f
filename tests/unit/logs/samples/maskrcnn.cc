// maskrcnn-benchmark, MLPerf Mask R-CNN: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a step, ranks' prefix",
     "0: 2020-06-01 10:00:00,129 maskrcnn_benchmark.trainer INFO: eta: 4:19:20 "
     " iter: 20  loss: 5.1036 (6.3051)  loss_classifier: 3.9201 (4.2)  "
     "loss_mask: 0.6992 (1.0)  time: 0.4 (0.6)  data: 0.0 (0.1)  lr: 0.002625 "
     " max mem: 5042",
     "step=20 loss=5.1036 learning_rate=0.002625"},
    {"torn",
     "INFO: eta: 4:19:20  iter: 20  loss: 5.1\nINFO: eta: 4:19:20  iter: 2",
     ""},
};

}  // namespace

const SampleTable kMaskRcnnSamples = {"maskrcnn", kLines};

}  // namespace nanwatch
