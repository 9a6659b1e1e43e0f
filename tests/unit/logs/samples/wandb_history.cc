// W&B's history export, CSV or JSON lines: sample lines in its texture, and
// what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a panel of two runs",
     "\"Step\",\"sun-7 - train/loss\",\"sun-7 - train/loss__MIN\",\"sun-7 - "
     "train/loss__MAX\",\"moon-8 - train/loss\"\n"
     "\"10\",\"2.5\",\"2.4\",\"2.6\",\"9.5\"\n"
     "\"20\",\"\",\"\",\"\",\"9.25\"\n"
     "\"30\",\"NaN\",\"NaN\",\"NaN\",\"9\"",
     "step=10 loss=2.5\nstep=30 loss=nan"},
    {"run.history() as CSV",
     ",_step,_runtime,_timestamp,train/loss,train/global_step,eval/loss\n"
     "0,0,1.5,1700000000.5,2.5,10,\n"
     "1,1,2.5,1700000001.5,,20,2.25\n"
     "2,2,2.5,1700000001.5,2.25,20,",
     "step=10 loss=2.5\nstep=20 loss=2.25"},
    {"JSON lines",
     R"({"_step": 5, "_timestamp": 1.7e9, "train/loss": 2.5, "lr": 0.1})"
     "\n"
     R"({"_step": 6, "train/global_step": 60, "train/loss": "NaN"})"
     "\n"
     R"({"_step": 7, "eval/loss": 2.5})",
     "step=5 loss=2.5 learning_rate=0.1\nstep=60 loss=nan"},
};

}  // namespace

const SampleTable kWandbHistorySamples = {"wandb_history", kLines};

}  // namespace nanwatch
