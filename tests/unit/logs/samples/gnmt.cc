// NVIDIA GNMT: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a step, steps over epochs",
     "0: TRAIN [0][0/900]\tTime 0.277 (0.277)\tData 2.32e-01 (2.32e-01)\tTok/s "
     "27963 (27963)\tLoss/tok 10.5 (10.5)\tLR 2.5e-05\n"
     "0: TEST [0][0/5]\tTime 0.3 (0.3)\tDecoder iters 149.0 (149.0)\tTok/s 9\n"
     "0: TRAIN [1][10/900]\tTime 0.277 (0.277)\tData 2.32e-01 (2.32e-01)\tTok/s"
     " 27963 (27963)\tLoss/tok nan (nan)\tLR 2.500e-03",
     "step=0 loss=10.5 learning_rate=2.5e-05\n"
     "step=910 loss=nan learning_rate=0.0025"},
    {"its scaler",
     "0: Gradient norm: inf\n0: Skipped batch, new scale: 512.0\n"
     "0: Upscaling, new scale: 1024.0",
     "overflow loss_scale=512 rank=0\nscale loss_scale=1024 rank=0"},
    {"two ranks print: one is read",
     "3: TRAIN [0][20/900]\tTime 0.1 (0.1)\tLoss/tok 8.5 (9.0)\tLR 1.0e-04\n"
     "1: TRAIN [0][20/900]\tTime 0.1 (0.1)\tLoss/tok 8.6 (9.0)\tLR 1.0e-04\n"
     "3: TRAIN [0][30/900]\tTime 0.1 (0.1)\tLoss/tok 8.4 (9.0)\tLR 1.0e-04",
     "step=20 loss=8.5 learning_rate=0.0001\n"
     "step=30 loss=8.4 learning_rate=0.0001"},
    {"without ranks",
     "TRAIN [0][20/900]\tTime 0.1 (0.1)\tLoss/tok 8.5 (9.0)\tLR 1.0e-04",
     "step=20 loss=8.5 learning_rate=0.0001"},
    {"a floor that is an integer, and a scale that was cut",
     "0: Skipped batch, new scale: 128.0\n0: Skipped batch, new scale: 1\n"
     "0: Skipped batch, new scale: 2.0\n0: Skipped batch, new scale: 1",
     "overflow loss_scale=128 rank=0\noverflow loss_scale=2 rank=0\n"
     "overflow loss_scale=1 rank=0"},
    {"glued to another line's number",
     "0: Skipped batch, new scale: 4096.0\n"
     "0: TRAIN [0][640/900]\tTime 0.2 (0.2)\tData 0: Upscaling, new scale: "
     "81923.1e-4 (1.1e-3)\tLoss/tok 5.5 (8.0)\tLR 2.0e-03\n"
     "0: Upscaling, new scale: 8192.0",
     "overflow loss_scale=4096 rank=0\nstep=640 loss=5.5 learning_rate=0.002\n"
     "scale loss_scale=8192 rank=0"},
    {"torn",
     "0: TRAIN [0][20/900]\tTime 0.1 (0.1)\tLoss/tok 8\n"
     "0: Skipped batch, new scale: 51",
     ""},
};

}  // namespace

const SampleTable kGnmtSamples = {"gnmt", kLines};

}  // namespace nanwatch
