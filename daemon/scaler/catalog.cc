#include "scaler/catalog.h"

#include <array>
#include <limits>
#include <string>
#include <utility>

namespace nanwatch {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kMaxFloat = std::numeric_limits<float>::max();
constexpr double k2To7 = 128;
constexpr double k2To13 = 8192;
constexpr double k2To14 = 16384;
constexpr double k2To15 = 32768;
constexpr double k2To16 = 65536;
constexpr double k2To24 = 16777216;
constexpr double k2To32 = 4294967296;

// name, title,
// init, growth factor, interval, growth, backoff factor, hysteresis, count,
// floor, ceiling, at the floor, source
constexpr ScalerSpec kScalers[] = {
    {"pytorch", "PyTorch GradScaler",                                   //
     k2To16, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     0, kMaxFloat, AtFloor::kNoFloor, "torch/amp/grad_scaler.py"},
    {"fsdp", "PyTorch FSDP ShardedGradScaler",                          //
     k2To16, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     0, kMaxFloat, AtFloor::kNoFloor,
     "torch/distributed/fsdp/sharded_grad_scaler.py"},
    {"torch_npu", "torch_npu GradScaler",                               //
     k2To16, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     0, kMaxFloat, AtFloor::kNoFloor, "torch_npu/npu/amp/grad_scaler.py"},
    {"deepspeed", "DeepSpeed DynamicLossScaler",  //
     k2To16, 2, 1000, Growth::kConsecutive, 0.5, Hysteresis::kUntilGrowth,
     2,  //
     1, kNone, AtFloor::kRaises, "deepspeed/runtime/fp16/loss_scaler.py"},
    {"megatron", "Megatron-LM DynamicGradScaler",  //
     k2To32, 2, 1000, Growth::kConsecutive, 0.5, Hysteresis::kUntilGrowth,
     2,  //
     1, kNone, AtFloor::kClamps, "megatron/core/optimizer/grad_scaler.py"},
    {"apex", "NVIDIA Apex amp LossScaler",                              //
     k2To16, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     0, k2To24, AtFloor::kNoFloor, "apex/amp/scaler.py", AtCeiling::kClamps},
    {"fairseq", "fairseq DynamicLossScaler",                           //
     k2To7, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     1e-4, kNone, AtFloor::kRaises, "fairseq/optim/dynamic_loss_scaler.py"},
    {"keras", "Keras LossScaleOptimizer",                               //
     k2To15, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "keras/src/optimizers/loss_scale_optimizer"},
    {"jmp", "JAX jmp DynamicLossScale",                                 //
     k2To15, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     1, kMaxFloat, AtFloor::kClamps, "jmp/_src/loss_scale.py"},
    {"paddle", "Paddle AmpScaler",                                      //
     k2To15, 2, 1000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "paddle/amp/grad_scaler.py"},
    {"mindspore", "MindSpore DynamicLossScaler",                //
     0, 2, 0, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     1, kMaxFloat, AtFloor::kClamps, "mindspore/amp.py"},
    // Its interval is one of 20 to 1000: three growths take the next longer
    // one, three backoffs without a growth make it 1 (see ScalerModel).
    {"mindformers", "MindFormers AdaptiveLossScaleUpdateCell",  //
     0, 2, 1000, Growth::kVarying, 0.5, Hysteresis::kNone, 1,   //
     1, kNone, AtFloor::kClamps, "mindformers/wrapper/adaptive_loss_scale.py"},
    {"ascend_tf", "Ascend TensorFlow ExponentialUpdateLossScaleManager",  //
     0, 2, 0, Growth::kConsecutive, 0.8, Hysteresis::kCumulative, 2,      //
     1, kMaxFloat, AtFloor::kClamps,
     "npu_bridge/estimator/npu/npu_loss_scale_manager.py"},
    {"ascend_tf_fixed", "Ascend TensorFlow FixedLossScaleManager",  //
     0, 1, 0, Growth::kNever, 1, Hysteresis::kNone, 1,              //
     0, kNone, AtFloor::kNoFloor,
     "npu_bridge/estimator/npu/npu_loss_scale_manager.py"},
    {"openseq2seq_backoff", "OpenSeq2Seq BackoffScaler",                //
     k2To14, 2, 2000, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     1, k2To14, AtFloor::kClamps,
     "open_seq2seq/optimizers/automatic_loss_scaler.py", AtCeiling::kClamps},
    {"openseq2seq_logmax", "OpenSeq2Seq LogMaxScaler",          //
     1, 2, 0, Growth::kStatistical, 0.5, Hysteresis::kNone, 1,  //
     1, k2To14, AtFloor::kClamps,
     "open_seq2seq/optimizers/automatic_loss_scaler.py"},
    {"adaloss", "AdaLoss layer-wise scaling",                   //
     1, 2, 0, Growth::kStatistical, 0.5, Hysteresis::kNone, 1,  //
     1, 1024, AtFloor::kClamps, "ada_loss/core.py"},
    {"popart", "Graphcore PopART automatic loss scaling",  //
     1, 2, 1, Growth::kEither, 0.5, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "popart: lossscaleupdatex.cpp"},
    // A scale each tensor, from its largest values: any transition can be.
    {"te_delayed", "Transformer Engine delayed scaling of FP8",  //
     1, 1, 1, Growth::kStatistical, 1, Hysteresis::kNone, 1,     //
     0, kNone, AtFloor::kNoFloor, "transformer_engine/common/recipe"},
    {"te_current", "Transformer Engine current scaling of FP8",  //
     1, 1, 1, Growth::kStatistical, 1, Hysteresis::kNone, 1,     //
     0, kNone, AtFloor::kNoFloor, "transformer_engine/common/recipe"},
    {"ms_amp", "MS-AMP scaling of FP8 tensors",               //
     1, 1, 1, Growth::kStatistical, 1, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "msamp/common/tensor/meta.py"},
    {"te_block", "Transformer Engine block scaling of FP8",   //
     1, 1, 1, Growth::kStatistical, 1, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "transformer_engine/common/recipe",
     AtCeiling::kRefuses, false, true},
    {"mxfp8", "MXFP8 block scaling",                          //
     1, 1, 1, Growth::kStatistical, 1, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "transformer_engine/common/recipe",
     AtCeiling::kRefuses, false, true},
    {"nvfp4", "NVFP4 block scaling",                          //
     1, 1, 1, Growth::kStatistical, 1, Hysteresis::kNone, 1,  //
     0, kNone, AtFloor::kNoFloor, "transformer_engine/common/recipe",
     AtCeiling::kRefuses, false, true},
    // Weights and activations are scaled so that no loss scale is needed.
    {"unit_scaling", "unit scaling, without a loss scale",  //
     1, 1, 0, Growth::kNever, 1, Hysteresis::kNone, 1,      //
     0, kNone, AtFloor::kNoFloor, "unit_scaling/functional.py"},
    {"colossalai", "Colossal-AI DynamicGradScaler",  //
     k2To16, 2, 1000, Growth::kConsecutive, 0.5, Hysteresis::kUntilGrowth,
     2,  //
     0, kNone, AtFloor::kNoFloor,
     "colossalai/amp/naive_amp/grad_scaler/dynamic_grad_scaler.py",
     AtCeiling::kRefuses, true},
    {"gnmt", "NVIDIA GNMT Fp16Optimizer",                               //
     k2To13, 2, 2048, Growth::kConsecutive, 0.5, Hysteresis::kNone, 1,  //
     // Not every version stops at 8192.
     0, kNone, AtFloor::kNoFloor, "seq2seq/train/fp_optimizers.py",
     AtCeiling::kRefuses, true},
};

// Programs that use another's scaler, by name of the program.
constexpr std::pair<std::string_view, std::string_view> kUsers[] = {
    {"hf_trainer", "pytorch"},  {"trl", "pytorch"},
    {"axolotl", "pytorch"},     {"llama_factory", "pytorch"},
    {"lightning", "pytorch"},   {"mmcv", "pytorch"},
    {"insightface", "pytorch"}, {"timm", "pytorch"},
    {"ultralytics", "pytorch"}, {"nanogpt", "pytorch"},
    {"detectron2", "pytorch"},  {"paddlenlp", "paddle"},
    {"mindyolo", "mindspore"},  {"metaseq", "fairseq"},
    {"tf_npu", "ascend_tf"},
};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"torch", "pytorch"},
    {"gradscaler", "pytorch"},
    {"torchampgradscaler", "pytorch"},
    {"torchcudaampgradscaler", "pytorch"},
    {"shardedgradscaler", "fsdp"},
    {"npu", "torch_npu"},
    {"megatronlm", "megatron"},
    {"dynamicgradscaler", "megatron"},
    {"nemo", "megatron"},
    {"apexamp", "apex"},
    {"tensorflow", "keras"},
    {"lossscaleoptimizer", "keras"},
    {"jax", "jmp"},
    {"ampscaler", "paddle"},
    {"paddlepaddle", "paddle"},
    {"dynamiclossscaleupdatecell", "mindspore"},
    {"adaptivelossscaleupdatecell", "mindformers"},
    {"ascend", "ascend_tf"},
    {"exponentialupdatelossscalemanager", "ascend_tf"},
    {"fixedlossscalemanager", "ascend_tf_fixed"},
    {"fixedlossscaleupdatecell", "ascend_tf_fixed"},
    {"openseq2seq", "openseq2seq_backoff"},
    {"backoffscaler", "openseq2seq_backoff"},
    {"logmaxscaler", "openseq2seq_logmax"},
    {"transformerengine", "te_delayed"},
    {"delayedscaling", "te_delayed"},
    {"float8currentscaling", "te_current"},
    {"float8blockscaling", "te_block"},
    {"mxfp8blockscaling", "mxfp8"},
    {"nvfp4blockscaling", "nvfp4"},
    {"msamp", "ms_amp"},
    {"unitscaling", "unit_scaling"},
};

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.' || c == ' ') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

}  // namespace

std::span<const ScalerSpec> AllScalers() { return kScalers; }

const ScalerSpec* FindScaler(std::string_view name) {
  std::string wanted = Plain(name);
  for (const auto& [alias, target] : kAliases) {
    if (wanted == alias) wanted = Plain(target);
  }
  for (const ScalerSpec& spec : kScalers) {
    if (Plain(spec.name) == wanted) return &spec;
  }
  return nullptr;
}

const ScalerSpec* ScalerOfProgram(std::string_view framework) {
  std::string_view program = framework.substr(framework.find_last_of('+') + 1);
  for (const auto& [user, scaler] : kUsers) {
    if (program == user) program = scaler;
  }
  return FindScaler(program);
}

}  // namespace nanwatch
