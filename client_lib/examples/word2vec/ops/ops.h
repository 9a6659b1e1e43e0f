// The kernels. Each is a translation unit of its own, compiled with
// -ftrapping-math, so that no arithmetic moves across its borders and the
// CPU's flags after a call are those of the call. They know nothing of
// saturation, and run over whole buffers, padding included. Matrix products
// accumulate in float and round to half once, as the device's cube unit does.

#ifndef NANWATCH_WORD2VEC_OPS_OPS_H_
#define NANWATCH_WORD2VEC_OPS_OPS_H_

#include <cstddef>
#include <cstdint>

#include "half.h"

namespace word2vec {

// A batch: `pairs` centre words, each with `targets` words (the context word
// first, then the negatives), vectors of `dim`.
struct Extent {
  size_t pairs = 0;
  size_t targets = 0;
  size_t dim = 0;
};

// out[i] = table[rows[i]].
void Gather(const Half* table, size_t dim, const int32_t* rows, size_t n,
            Half* out);
// out[pair, target] = centre[pair] . target[pair, target].
void MatMul(const Extent& extent, const Half* centre, const Half* target,
            Half* out);
// The logit of the right answer: as it is for the context word, negated for
// negatives; within +-10, so that its sigmoid is never 0 in half precision.
void SignedClip(const Extent& extent, const Half* logits, Half* out);
void Sigmoid(const Half* in, size_t n, Half* out);
// 1 / sqrt(x).
void Rsqrt(const Half* in, size_t n, Half* out);
// ND to FRACTAL_NZ, zeros in the padding; and back, dropping it.
void TransDataToNz(const Half* in, size_t rows, size_t cols, Half* out);
void TransDataFromNz(const Half* in, size_t rows, size_t cols, Half* out);
void Log(const Half* in, size_t n, Half* out);
// out[0] = -mean over pairs of weight * sum over targets.
void LossMean(const Extent& extent, const Half* log, const Half* weight,
              Half* out);
// Gradient at the logits of loss * scale.
void LogSigmoidGrad(const Extent& extent, const Half* sigmoid,
                    const Half* weight, float scale, Half* out);
// Gradients at the gathered vectors.
void GradCentre(const Extent& extent, const Half* grad, const Half* target,
                Half* out);
void GradTarget(const Extent& extent, const Half* grad, const Half* centre,
                Half* out);
// sum[rows[i]] += grad[i] * factor, in float: the master gradients.
void UnscaleAndSum(const Half* grad, const int32_t* rows, size_t n, size_t dim,
                   float factor, float* sum);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_OPS_OPS_H_
