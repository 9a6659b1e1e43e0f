#include "model.h"

#include <cmath>
#include <limits>

namespace word2vec {
namespace {

// In execution order. Without padding the two TransData do not run.
const Op kGatherCentre{"embedding/GatherV2", "GatherV2", "ND", 0};
const Op kGatherTarget{"nce/GatherV2", "GatherV2", "ND", 1};
const Op kRsqrt{"nce/distance/Rsqrt", "Rsqrt", "ND", 2};
const Op kMatMul{"nce/BatchMatMul", "BatchMatMul", "ND", 3};
const Op kClip{"loss/ClipByValue", "ClipByValue", "ND", 4};
const Op kSigmoid{"loss/Sigmoid", "Sigmoid", "ND", 5};
const Op kToNz{"loss/TransData", "TransData", "FRACTAL_NZ", 6};
const Op kLogNz{"loss/Log", "Log", "FRACTAL_NZ", 7};
const Op kFromNz{"loss/TransData_1", "TransData", "ND", 8};
const Op kLogNd{"loss/Log", "Log", "ND", 7};
const Op kLoss{"loss/ReduceMean", "ReduceMean", "ND", 9};
const Op kGradLogits{"gradients/loss/LogSigmoidGrad", "LogSigmoidGrad", "ND",
                     10, true};
const Op kGradCentre{"gradients/nce/BatchMatMul", "BatchMatMul", "ND", 11,
                     true};
const Op kGradTarget{"gradients/nce/BatchMatMul_1", "BatchMatMul", "ND", 12,
                     true};

}  // namespace

Model::Model(size_t words, const Extent& extent, bool padded, uint64_t seed)
    : extent_(extent),
      padded_(padded),
      random_(seed),
      vectors_(words, extent.dim, &random_),
      contexts_(words, extent.dim, &random_) {
  const auto pairs = static_cast<int64_t>(extent.pairs);
  const auto targets = static_cast<int64_t>(extent.targets);
  const auto dim = static_cast<int64_t>(extent.dim);
  const Shape matrix = {pairs, targets};
  centre_ = Tensor({pairs, dim});
  target_ = Tensor({pairs, targets, dim});
  weight_ = Tensor({pairs});
  logits_ = clipped_ = sigmoid_ = log_ = grad_logits_ = Tensor(matrix);
  sigmoid_nz_ = log_nz_ = Tensor(matrix, NzShape(pairs, targets));
  loss_ = Tensor({1});
  grad_centre_ = Tensor({pairs, dim});
  grad_target_ = Tensor({pairs, targets, dim});
}

float Model::Forward(const Batch& batch, Device* device) {
  device->Run(kGatherCentre, {}, &centre_, [&] {
    Gather(vectors_.half(), extent_.dim, batch.centre.data(), extent_.pairs,
           centre_.data.data());
  });
  device->Run(kGatherTarget, {}, &target_, [&] {
    Gather(contexts_.half(), extent_.dim, batch.targets.data(),
           batch.targets.size(), target_.data.data());
  });
  device->Run(kRsqrt, {&batch.distance}, &weight_, [&] {
    Rsqrt(batch.distance.data.data(), weight_.size(), weight_.data.data());
  });
  device->Run(kMatMul, {&centre_, &target_}, &logits_, [&] {
    MatMul(extent_, centre_.data.data(), target_.data.data(),
           logits_.data.data());
  });
  device->Run(kClip, {&logits_}, &clipped_, [&] {
    SignedClip(extent_, logits_.data.data(), clipped_.data.data());
  });
  device->Run(kSigmoid, {&clipped_}, &sigmoid_, [&] {
    Sigmoid(clipped_.data.data(), sigmoid_.size(), sigmoid_.data.data());
  });
  Log(device);
  device->Run(kLoss, {&log_, &weight_}, &loss_, [&] {
    LossMean(extent_, log_.data.data(), weight_.data.data(), loss_.data.data());
  });
  return static_cast<float>(loss_.data[0]);
}

void Model::Log(Device* device) {
  if (!padded_) {
    device->Run(kLogNd, {&sigmoid_}, &log_, [&] {
      word2vec::Log(sigmoid_.data.data(), log_.size(), log_.data.data());
    });
    return;
  }
  device->Run(kToNz, {&sigmoid_}, &sigmoid_nz_, [&] {
    TransDataToNz(sigmoid_.data.data(), extent_.pairs, extent_.targets,
                  sigmoid_nz_.data.data());
  });
  device->Run(kLogNz, {&sigmoid_nz_}, &log_nz_, [&] {
    word2vec::Log(sigmoid_nz_.data.data(), log_nz_.size(), log_nz_.data.data());
  });
  device->Run(kFromNz, {&log_nz_}, &log_, [&] {
    TransDataFromNz(log_nz_.data.data(), extent_.pairs, extent_.targets,
                    log_.data.data());
  });
}

void Model::Backward(float scale, Device* device) {
  device->Run(kGradLogits, {&sigmoid_}, &grad_logits_, [&] {
    LogSigmoidGrad(extent_, sigmoid_.data.data(), weight_.data.data(), scale,
                   grad_logits_.data.data());
  });
  device->Run(kGradCentre, {&grad_logits_}, &grad_centre_, [&] {
    GradCentre(extent_, grad_logits_.data.data(), target_.data.data(),
               grad_centre_.data.data());
  });
  device->Run(kGradTarget, {&grad_logits_}, &grad_target_, [&] {
    GradTarget(extent_, grad_logits_.data.data(), centre_.data.data(),
               grad_target_.data.data());
  });
}

bool Model::GradientNonFinite() const {
  return HasNonFinite(grad_centre_.data.data(), grad_centre_.size()) ||
         HasNonFinite(grad_target_.data.data(), grad_target_.size());
}

double Model::CollectGradient(const Batch& batch, double scale,
                              OverflowMode mode) {
  float inverse = static_cast<float>(1 / scale);
  // A saturating device knows no infinity, in float neither.
  if (mode == OverflowMode::kSaturation && std::isinf(inverse)) {
    inverse = std::numeric_limits<float>::max();
  }
  vectors_.AddGradient(batch.centre, grad_centre_, inverse);
  contexts_.AddGradient(batch.targets, grad_target_, inverse);
  return std::sqrt(vectors_.GradientSquares() + contexts_.GradientSquares());
}

void Model::Apply(float learning_rate) {
  vectors_.Apply(learning_rate);
  contexts_.Apply(learning_rate);
}

void Model::Discard() {
  vectors_.Discard();
  contexts_.Discard();
}

}  // namespace word2vec
