// What loss_high_plateau finds where no record follows.

#include <cmath>

#include "detect/float_log2.h"
#include "detect/loss_high_plateau.h"

namespace nanwatch {
namespace {

constexpr int32_t kEndRecords = 32;   // records at the end; ours
constexpr int32_t kFewRecords = 8;    // that show one and another; ours
constexpr float kStaysShare = 0.25f;  // of all records; ours
constexpr float kLostAtEnd = 0.5f;    // of what was learned; ours: lost_share
constexpr float kFarUp = 4;           // deviations of single losses; ours

}  // namespace

Severity LossHighPlateau::OnEnd(Thresholds t) {
  const auto tell = [&](int64_t since, Severity severity) {
    way_.to_end = true;
    return episode_.OnSince(since, severity, false, step_.newest, t[kClear]);
  };
  if (about_ == About::kGuessing && guessing_.away() && episode_.open()) {
    return tell(step_.newest, Severity::kCritical);
  }
  if (!episode_.open() && LostFew()) {
    return tell(step_.left, Severity::kWarning);
  }
  if (high_ >= kEndRecords && IsLostAtEnd(t)) {
    return tell(step_.high, Severity::kCritical);
  }
  if (episode_.open() || !StaysUp()) return episode_.severity();
  about_ = About::kCrept;
  told_ = levels_;
  stood_ = courses_.standing.records();
  // A jump may be harder data, which no one can tell from trouble.
  return tell(step_.best, RisesEvenly() ? Severity::kWarning : Severity::kInfo);
}

// However it came up, and for so long, without a way back.
bool LossHighPlateau::StaysUp() const {
  const int32_t n = courses_.standing.records();
  const bool clear = levels_.at - levels_.best >= kFarUp * levels_.noise;
  if (n < (clear ? kLeastRecords : kCreptFor) || !IsAboveBest() ||
      static_cast<float>(n) < kStaysShare * static_cast<float>(records_)) {
    return false;
  }
  // A sparse log has come down before it shows a level: less may be all.
  const float best = std::exp(levels_.best);
  const float learned = std::exp(levels_.first) - best;
  return levels_.LearnedSome() ||
         (clear && courses_.standing.last() - best >= kLostAtEnd * learned &&
          levels_.first - levels_.best >= kFarUp * levels_.calm);
}

bool LossHighPlateau::LostFew() {
  if (records_ < kFewRecords || records_ >= kLeastRecords || levels_.unit > 0) {
    return false;
  }
  const float first = courses_.first.begin();
  const float best = courses_.first.lowest();
  const float last = courses_.first.last();
  const float learned = first - best;
  const bool lost = learned >= kSomeLearned * first &&
                    last - best >= kAllLost * learned &&
                    LnOf(last / best) >= kRisenNoise * levels_.noise &&
                    newest_ - best > last - newest_;
  if (!lost) return false;
  told_.first = LnOf(first);
  told_.best = LnOf(best);
  told_.at = LnOf(last);
  stood_ = courses_.first.records() / 3;
  return true;
}

bool LossHighPlateau::IsLostAtEnd(Thresholds t) const {
  const float best = levels_.Loss(levels_.best);
  const float level = levels_.Loss(levels_.at);
  // A loss that wanders in health comes half of the way back, for a while.
  const bool wanders =
      level < t[kRisen] * best &&
      level - best < kAllLost * (levels_.Loss(levels_.first) - best);
  return Ceiling(t) == Severity::kCritical && !wanders &&
         !courses_.high.ComesDown(best);
}

}  // namespace nanwatch
