// The passes put together: a block at a time, while it is in the first cache.
// Only what was asked for, and of the rare cases (special values, zeros,
// subnormal values) only what the extremes of the block make possible. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_KERNEL_H_
#define NANWATCH_OBSERVE_KERNEL_H_

#include "bytes.h"
#include "exponents.h"
#include "half_logs.h"
#include "moments.h"

namespace nanwatch {
namespace {

template <typename F>
class Pass {
 public:
  Pass(unsigned what, Tally* tally)
      : range_wanted_((what & NANWATCH_OBSERVE_RANGE) != 0),
        squares_wanted_((what & NANWATCH_OBSERVE_RMS) != 0),
        logs_wanted_((what & NANWATCH_OBSERVE_LOG2) != 0),
        tally_(tally) {}

  // REQUIRES: 0 < n <= kBlock.
  void Block(Elements<F> x, size_t n) {
    const Extremes<F> extremes = FindExtremes<F>(x, n);
    BlockCounts<F> block{.lowest_normal = extremes.lowest,
                         .highest = extremes.highest};
    const Tally before = *tally_;
    if (extremes.highest >= F::kFirstSpecial - 1) {
      block.highest = CountHigh<F>(x, n, tally_);
    }
    if (extremes.lowest < F::kMinNormal) {
      block.lowest_normal = CountLow<F>(x, n, tally_);
    }
    block.special = Specials(*tally_) - Specials(before);
    block.zero = tally_->zero - before.zero;
    block.subnormal = tally_->subnormal - before.subnormal;
    block.normal = n - block.special - block.zero - block.subnormal;
    if (range_wanted_) AddRange(x, n, extremes, block.special > 0);
    if (block.highest == 0) return;  // zeros and special values alone
    if (block.highest > abs_max_) abs_max_ = block.highest;
    if (range_wanted_ || squares_wanted_ || logs_wanted_) {
      AddSums(x, n, block);
    }
    if (tally_->exponents != nullptr) {
      CountExponents<F>(x, n, block, tally_->exponents);
    }
  }

  // `n`: of all blocks together.
  void Finish(size_t n) {
    const double finite = static_cast<double>(n - Specials(*tally_));
    if (finite == 0) return;
    tally_->abs_max = WidenToDouble<F>(abs_max_);
    tally_->min = WidenToDouble<F>(FromKey<F>(range_.lowest));
    tally_->max = WidenToDouble<F>(FromKey<F>(range_.highest));
    // A product would be put before the division, where it overflows.
    tally_->mean = __builtin_ldexp(sums_.values / finite, kSumExponent<F>);
    tally_->mean_square = sums_.squares / finite;
    const double non_zero = finite - static_cast<double>(tally_->zero);
    if (non_zero == 0) return;
    const double mean = logs_.sum / non_zero;
    const double variance = logs_.squares / non_zero - mean * mean;
    tally_->log2_mean = mean + logs_.left / non_zero + pivot_;
    tally_->log2_std = variance > 0 ? __builtin_sqrt(variance) : 0;
  }

 private:
  using Bits = typename F::Bits;
  static constexpr int kNoPivot = -10000;

  static uint64_t Specials(const Tally& tally) {
    return tally.nan + tally.pos_inf + tally.neg_inf;
  }
  void AddRange(Elements<F> x, size_t n, const Extremes<F>& extremes,
                bool special) {
    if (special) {
      AddFiniteRange<F>(x, n, &range_);
    } else {
      range_.Add(KeyOf<F>(extremes.min), KeyOf<F>(extremes.max));
    }
  }
  void AddSums(Elements<F> x, size_t n, const BlockCounts<F>& block) {
    int pivot = BinOf<F>(block.highest) + F::kLowestExponent;
    LogSums logs;
    const bool whole = block.special == 0 && n % kStride == 0;
    if (!whole) x = Clean(x, &n);
    if (!FloatDoes(block, pivot)) {
      AddDoubles<F>(x, n, &sums_);
      if (logs_wanted_) AddLogsOfDoubles<F>(x, n, pivot, &logs);
    } else if constexpr (sizeof(Bits) < 8) {
      const bool zeros = block.zero > 0 || !whole;
      pivot = AddFloatsOf(x, n, block, zeros, pivot, &logs);
    }
    if (pivot_ == kNoPivot) pivot_ = pivot;
    logs_.Add(logs, static_cast<double>(block.normal + block.subnormal),
              pivot - pivot_);
  }
  // It holds every half and its square; of the others those that lie near 1. A
  // small one's square is nothing beside that of a large one, but its logarithm
  // counts.
  bool FloatDoes(const BlockCounts<F>& block, int highest) const {
    if (F::kMantissa == 10) return true;
    if (sizeof(Bits) == 8) return false;
    if (logs_wanted_ && block.subnormal > 0) return false;
    return highest >= -50 && highest <= 50;
  }
  // Returns what the logarithms are relative to.
  int AddFloatsOf(Elements<F> x, size_t n, const BlockCounts<F>& block,
                  bool zeros, int pivot, LogSums* logs) {
    const bool by_bits = F::kMantissa == 10 && logs_wanted_ && n == kBlock &&
                         block.subnormal == 0;
#if defined(__AVX2__)
    if (by_bits) {
      AddFloats<F, false, false>(x, n, 0, &sums_, logs);
      AddHalfLogs(x, n - block.normal, logs);
      return 0;
    }
#else
    (void)by_bits;
#endif
    if (!logs_wanted_) {
      AddFloats<F, false, false>(x, n, 0, &sums_, logs);
    } else if (zeros) {
      AddFloats<F, true, true>(x, n, pivot, &sums_, logs);
    } else {
      AddFloats<F, true, false>(x, n, pivot, &sums_, logs);
    }
    return pivot;
  }
  // With zeros for special elements and behind the end.
  Elements<F> Clean(Elements<F> x, size_t* n) {
    for (size_t i = 0; i < *n; ++i) {
      const bool finite = (x[i] & F::kMagnitude) < F::kFirstSpecial;
      clean_[i] = finite ? x[i] : Bits{0};
    }
    for (; *n % kStride != 0; ++*n) clean_[*n] = 0;
    return clean_;
  }

  const bool range_wanted_;
  const bool squares_wanted_;
  const bool logs_wanted_;
  Tally* const tally_;
  Bits abs_max_ = 0;
  Range<F> range_;
  Sums sums_;
  int pivot_ = kNoPivot;
  LogSums logs_;
  alignas(64) Bits clean_[kBlock];
};

template <typename F>
void ObserveElements(const void* data, size_t n, unsigned what, Tally* tally) {
  const auto x = static_cast<Elements<F>>(data);
  Pass<F> pass(what, tally);
  for (size_t i = 0; i < n; i += kBlock) {
    pass.Block(x + i, n - i < kBlock ? n - i : kBlock);
  }
  pass.Finish(n);
}

void ObserveAny(const void* data, size_t n, nanwatch_dtype dtype, unsigned what,
                Tally* tally) {
  const auto bytes = static_cast<const unsigned char*>(data);
  switch (dtype) {
    case NANWATCH_FP64:
      return ObserveElements<Fp64Format>(data, n, what, tally);
    case NANWATCH_FP32:
      return ObserveElements<Fp32Format>(data, n, what, tally);
    case NANWATCH_FP16:
      return ObserveElements<Fp16Format>(data, n, what, tally);
    case NANWATCH_BF16:
      return ObserveElements<Bf16Format>(data, n, what, tally);
    case NANWATCH_FP8_E4M3:
      return ObserveBytes<Fp8E4M3Format>(bytes, n, tally);
    case NANWATCH_FP8_E5M2:
      return ObserveBytes<Fp8E5M2Format>(bytes, n, tally);
    case NANWATCH_DTYPE_UNKNOWN:
      break;
  }
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_KERNEL_H_
