// RuleId: the identity of a detection rule. RuleSet: some rules.

#ifndef NANWATCH_MODEL_RULE_ID_H_
#define NANWATCH_MODEL_RULE_ID_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace nanwatch {

// The numbers stand in histories, in configurations and in what people wrote
// down: a number is never used again. 1 to 57 are those of a survey of 57
// rules; cli/rule_named.cc says why some of them have no rule.
enum class RuleId : uint8_t {
  kNone = 0,
  kScaleAtFloor = 1,
  kScaleBelowOne = 2,
  kScaleUnrepresentable = 3,
  kScaleCollapse = 4,
  kOverflowStreak = 5,
  kOverflowRate = 6,
  kNeverCalibrated = 7,
  kOverflowNotScaleDependent = 8,
  kScaleLimitCycle = 9,
  kScaleStuck = 10,
  kScaleRunaway = 11,
  kScaleRankMismatch = 12,
  kSkipRankMismatch = 13,
  kScaleDiscontinuity = 14,
  kLossNonfinite = 15,
  kWeightNonfinite = 16,
  kOptimizerStateNonfinite = 17,
  kOpOverflowOrigin = 18,
  kOpOverflowPropagated = 19,
  kPersistentOpOverflow = 20,
  kOpSaturation = 21,
  kOpInternalOverflow = 22,
  kCommNonfiniteOrigin = 24,
  kNearOverflow = 25,
  kNumericMutation = 26,
  kGnormSpike = 27,
  kGnormExplosion = 28,
  kGradRatio = 29,
  kGradVanishing = 30,
  kUnderflowMeasured = 31,
  kUnderflowPredicted = 32,
  kNoSingleScale = 33,
  kLossSpike = 34,
  kLossHighPlateau = 35,
  kLossNotDecreasing = 36,
  kUpdateRatio = 38,
  kWeightUnchanged = 39,
  kUpdateNormSpike = 40,
  kFp8Clip = 41,
  kFp8Underflow = 42,
  kScaleInvJump = 43,
  kBenchLossDivergence = 44,
  kReplicaDivergence = 49,
  kSdcStrikes = 51,
  kStalled = 53,
  kTelemetryGap = 54,
  kMetricAbsentAsZero = 55,
  kStepRankSkew = 56,
  kLrSkipDesync = 57,
  kClippedBeforeUnscaling = 58,
  kUnscaledTwice = 59,
  kWeightOutOfRange = 60,
  kProgramEnded = 61,
  kUpdateFault = 62,
  kUpdateLost = 63,
  kLossImpossible = 64,
  kLayerUnderflow = 65,
  kLayerScaleOutside = 66,
  kOneScaleSuffices = 67,
  kLayerNotUnscaled = 68,
  kRivalGone = 69,
  kEvaluationNonfinite = 70,
  kRankApart = 71,
  kLayerWithoutGradient = 72,
  kTermNonfinite = 73,
  kScoreLost = 74,
  kDataFromStart = 75,
  kNumberNonfinite = 76,
};

// Numbers of rules are below it.
inline constexpr size_t kRuleIds = 128;

// Reads a number that comes from outside. kNone: no rule can have it.
constexpr RuleId RuleIdOf(int64_t number) {
  const bool fits = number > 0 && number < static_cast<int64_t>(kRuleIds);
  return fits ? static_cast<RuleId>(number) : RuleId::kNone;
}
constexpr int NumberOf(RuleId rule) { return static_cast<int>(rule); }

// A set of rules, by value. Iterates by rising number.
class RuleSet {
 public:
  class Iterator {
   public:
    using value_type = RuleId;
    using difference_type = std::ptrdiff_t;
    using reference = RuleId;
    using pointer = const RuleId*;
    using iterator_category = std::input_iterator_tag;

    constexpr Iterator(const RuleSet* set, size_t at) : set_(set), at_(at) {
      Skip();
    }
    constexpr RuleId operator*() const { return static_cast<RuleId>(at_); }
    constexpr Iterator& operator++() {
      ++at_;
      Skip();
      return *this;
    }
    constexpr bool operator==(const Iterator& other) const {
      return at_ == other.at_;
    }

   private:
    constexpr void Skip() {
      while (at_ < kRuleIds && !set_->has(static_cast<RuleId>(at_))) ++at_;
    }
    const RuleSet* set_;
    size_t at_;
  };

  constexpr RuleSet() = default;
  constexpr RuleSet(std::initializer_list<RuleId> rules) {
    for (const RuleId rule : rules) Add(rule);
  }

  constexpr bool has(RuleId rule) const {
    return (words_[Word(rule)] & Bit(rule)) != 0;
  }
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr size_t size() const {
    return static_cast<size_t>(std::popcount(words_[0]) +
                               std::popcount(words_[1]));
  }
  constexpr Iterator begin() const { return {this, 0}; }
  constexpr Iterator end() const { return {this, kRuleIds}; }

  constexpr void Add(RuleId rule) { words_[Word(rule)] |= Bit(rule); }
  constexpr void Remove(RuleId rule) { words_[Word(rule)] &= ~Bit(rule); }

  constexpr RuleSet& operator|=(const RuleSet& other) {
    words_[0] |= other.words_[0];
    words_[1] |= other.words_[1];
    return *this;
  }
  constexpr RuleSet& operator&=(const RuleSet& other) {
    words_[0] &= other.words_[0];
    words_[1] &= other.words_[1];
    return *this;
  }
  constexpr RuleSet& operator-=(const RuleSet& other) {
    words_[0] &= ~other.words_[0];
    words_[1] &= ~other.words_[1];
    return *this;
  }
  friend constexpr RuleSet operator|(RuleSet a, const RuleSet& b) {
    return a |= b;
  }
  friend constexpr RuleSet operator&(RuleSet a, const RuleSet& b) {
    return a &= b;
  }
  friend constexpr RuleSet operator-(RuleSet a, const RuleSet& b) {
    return a -= b;
  }
  constexpr bool operator==(const RuleSet&) const = default;

 private:
  static constexpr size_t Word(RuleId rule) {
    return static_cast<size_t>(rule) / 64 % 2;
  }
  static constexpr uint64_t Bit(RuleId rule) {
    return uint64_t{1} << static_cast<size_t>(rule) % 64;
  }
  std::array<uint64_t, kRuleIds / 64> words_{};
};

// --- Named sets, which several folders ask for.

// An op, or its tensor, holds what it should not.
inline constexpr RuleSet kBadOp = {
    RuleId::kOverflowNotScaleDependent,
    RuleId::kOpOverflowOrigin,
    RuleId::kOpOverflowPropagated,
    RuleId::kPersistentOpOverflow,
    RuleId::kOpSaturation,
    RuleId::kOpInternalOverflow,
};
// The loss scale itself, and overflows that it answers.
inline constexpr RuleSet kScaleTrouble = {
    RuleId::kScaleAtFloor,         RuleId::kScaleBelowOne,
    RuleId::kScaleUnrepresentable, RuleId::kScaleCollapse,
    RuleId::kOverflowStreak,       RuleId::kOverflowRate,
    RuleId::kNeverCalibrated,
};
// The scales that layers have of their own.
inline constexpr RuleSet kLayerScaleRules = {
    RuleId::kLayerUnderflow, RuleId::kLayerScaleOutside,
    RuleId::kOneScaleSuffices, RuleId::kLayerNotUnscaled};
// A loss that left its level.
inline constexpr RuleSet kLossLevel = {RuleId::kLossSpike,
                                       RuleId::kLossHighPlateau};
// What a log says of a part of the training that no record holds.
inline constexpr RuleSet kToldOfParts = {
    RuleId::kEvaluationNonfinite, RuleId::kLayerWithoutGradient,
    RuleId::kTermNonfinite, RuleId::kScoreLost};
// A gradient norm that left its level.
inline constexpr RuleSet kNorm = {RuleId::kGnormSpike, RuleId::kGnormExplosion};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RULE_ID_H_
