// The passes put together: a block at a time, while it is in the first cache.
// Only what was asked for, and of the rare cases (special values, zeros,
// subnormal values) only what the extremes of the block make possible. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_KERNEL_H_
#define NANWATCH_OBSERVE_KERNEL_H_

#include "bytes.h"
#include "exponents.h"
#include "half_avx2.h"
#include "half_avx512.h"
#include "logarithms.h"
#include "moments.h"

namespace nanwatch {
namespace {

template <typename F>
double ValueOf(typename F::Bits bits) {
  if constexpr (sizeof(bits) == 8) return DoubleOf(bits);
  if constexpr (sizeof(bits) == 4) return static_cast<double>(FloatOf(bits));
  if constexpr (F::kMantissa == 10) return static_cast<double>(WidenHalf(bits));
  return static_cast<double>(FloatOf(static_cast<uint32_t>(bits) << 16));
}

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
    const bool special = extremes.highest >= F::kFirstSpecial;
    const bool low = extremes.lowest < F::kMinNormal;
    const Tally before = *tally_;
    Bits lowest_normal = extremes.lowest;
    Bits highest = extremes.highest;
    if (highest >= F::kFirstSpecial - 1) highest = CountHigh<F>(x, n, tally_);
    if (low) lowest_normal = CountLow<F>(x, n, tally_);
    if (highest > abs_max_) abs_max_ = highest;
    if (range_wanted_) AddRange(x, n, extremes, special);
    if (range_wanted_ || squares_wanted_ || logs_wanted_) {
      if (pivot_ == kNoPivot && highest > 0) {
        pivot_ = BinOf<F>(highest) + F::kLowestExponent;
      }
      AddSumsOf(x, n, special, low);
    }
    if (tally_->exponents != nullptr && highest > 0) {
      BlockCounts<F> block{.lowest_normal = lowest_normal, .highest = highest};
      block.special = Specials(*tally_) - Specials(before);
      block.subnormal = tally_->subnormal - before.subnormal;
      block.normal =
          n - block.special - block.subnormal - (tally_->zero - before.zero);
      CountExponents<F>(x, n, block, tally_->exponents);
    }
  }

  // `n`: of all blocks together.
  void Finish(size_t n) {
    const double finite = static_cast<double>(n - Specials(*tally_));
    if (finite == 0) return;
    tally_->abs_max = ValueOf<F>(abs_max_);
    tally_->min = ValueOf<F>(FromKey<F>(range_.lowest));
    tally_->max = ValueOf<F>(FromKey<F>(range_.highest));
    tally_->mean = sums_.values / finite * kSumUnit<F>;
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
  void AddSumsOf(Elements<F> x, size_t n, bool special, bool low) {
    const bool logs = logs_wanted_ && pivot_ != kNoPivot;
#if defined(__AVX512F__)
    if constexpr (F::kMantissa == 10) {
      if (!special && n == kBlock) {
        if (logs && low) {
          AddHalves<true, true>(x, pivot_, &sums_, &logs_);
        } else if (logs) {
          AddHalves<true, false>(x, pivot_, &sums_, &logs_);
        } else {
          AddHalves<false, false>(x, 0, &sums_, &logs_);
        }
        return;
      }
    }
#elif defined(__AVX2__)
    if constexpr (F::kMantissa == 10) {
      if (!special && n == kBlock) return AddHalfSums(x, low);
      uint16_t clean[kBlock] = {};
      for (size_t i = 0; i < n; ++i) {
        const bool finite = (x[i] & F::kMagnitude) < F::kFirstSpecial;
        clean[i] = finite ? x[i] : uint16_t{0};
      }
      return AddHalfSums(clean, true);
    }
#endif
    Widen<F>(x, n, special, values_);
    if (range_wanted_ && squares_wanted_) {
      AddSums<F, true, true>(values_, &sums_);
    } else if (range_wanted_) {
      AddSums<F, true, false>(values_, &sums_);
    } else if (squares_wanted_) {
      AddSums<F, false, true>(values_, &sums_);
    }
    if (!logs) return;
    if (low || special || n < kBlock) {
      SumLogs<F, true>(values_, pivot_, &logs_);
    } else {
      SumLogs<F, false>(values_, pivot_, &logs_);
    }
  }
#if defined(__AVX2__) && !defined(__AVX512F__)
  void AddHalfSums(const Unaligned16* x, bool low) {
    if (range_wanted_ || squares_wanted_) AddHalves(x, &sums_);
    if (!logs_wanted_) return;
    pivot_ = kHalfPivot;
    if (low) {
      AddHalfLogs<true>(x, &logs_);
    } else {
      AddHalfLogs<false>(x, &logs_);
    }
  }
#endif

  const bool range_wanted_;
  const bool squares_wanted_;
  const bool logs_wanted_;
  Tally* const tally_;
  Bits abs_max_ = 0;
  Range<F> range_;
  Sums sums_;
  int pivot_ = kNoPivot;
  LogSums logs_;
  alignas(64) Value<F> values_[kBlock];
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
