// llm.c: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"z-scores in brackets",
     "val loss 11.006021\n"
     "step    1/19560 | loss 11.125000 (+nanz)| norm 15.2500 (+nanz)| lr "
     "8.57e-07 | 2517.44 ms | 39.9% bf16 MFU | 208262 tok/s\n"
     "step  200/19560 | loss 6.500000 (-1.21z)| norm 1.2500 (+0.10z)| lr "
     "1.71e-04 | 2507.23 ms | 40.1% bf16 MFU | 209110 tok/s",
     "step=1 loss=11.125 grad_norm=15.25 learning_rate=8.57e-07\n"
     "step=200 loss=6.5 grad_norm=1.25 learning_rate=0.000171"},
    {"torn, glued",
     "step    1/19560 | loss 11.125000 (+nstep    2/19560 | loss 10.500000 "
     "(+nanz)| norm 15.25",
     "step=2 loss=10.5"},
    {"its file",
     "s:0 tel:11.0000\ns:1 trl:10.2500 lr:0.000500 norm:15.25\n"
     "s:2 trl:nan lr:0.000500 norm:nan",
     "step=1 loss=10.25 grad_norm=15.25 learning_rate=0.0005\n"
     "step=2 loss=nan grad_norm=nan learning_rate=0.0005"},
};

}  // namespace

const SampleTable kLlmCSamples = {"llm_c", kLines};

}  // namespace nanwatch
