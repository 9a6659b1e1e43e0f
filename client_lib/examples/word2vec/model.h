// Model: skip-gram with negative sampling, as the graph of ops that a device
// runs.

#ifndef NANWATCH_WORD2VEC_MODEL_H_
#define NANWATCH_WORD2VEC_MODEL_H_

#include "device.h"
#include "ops/ops.h"
#include "sampler.h"
#include "table.h"

namespace word2vec {

class Model {
 public:
  // `padded`: the Log of the loss runs over FRACTAL_NZ, which pads both dims to
  // multiples of 16 with zeros.
  Model(size_t words, const Extent& extent, bool padded, uint64_t seed);

  // The loss of `batch`; what it computes stays for Backward.
  float Forward(const Batch& batch, Device* device);
  // Gradients of loss * scale, in half precision.
  void Backward(float scale, Device* device);
  // True if a gradient of the last Backward is Inf or NaN.
  bool GradientNonFinite() const;
  // Adds the unscaled gradients to the tables' float ones; returns their norm.
  double CollectGradient(const Batch& batch, double scale, OverflowMode mode);
  void Apply(float learning_rate);
  void Discard();

  const Table& vectors() const { return vectors_; }

 private:
  void Log(Device* device);

  const Extent extent_;
  const bool padded_;
  Random random_;
  Table vectors_;   // of centre words: what one wants
  Table contexts_;  // of context words
  Tensor centre_, target_, weight_, logits_, clipped_, sigmoid_, sigmoid_nz_,
      log_nz_, log_, loss_;
  Tensor grad_logits_, grad_centre_, grad_target_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_MODEL_H_
