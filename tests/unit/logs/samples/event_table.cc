// A table of scaler events: sample rows in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"an overflow, a line of progress, a raise",
     "seq,kind,step,loss,scale,prev_scale,grad_norm,skipped_total,"
     "rank_or_scaler,extra\n"
     "1,ovf,,,32768,65536,,,0,\n"
     "2,prog,10,2.5,32768,,1.5,1,,\n"
     "3,up,,,65536,32768,,,0,\n4,note,,,,,,,,x",
     "overflow before=65536 loss_scale=32768 scaler=0\n"
     "step=10 loss=2.5 loss_scale=32768 grad_norm=1.5 skipped_total=1\n"
     "scale before=32768 loss_scale=65536 scaler=0"},
    {"rows of another table", "seq,name,step\n1,overflow,10", ""},
};

}  // namespace

const SampleTable kEventTableSamples = {"event_table", kLines};

}  // namespace nanwatch
