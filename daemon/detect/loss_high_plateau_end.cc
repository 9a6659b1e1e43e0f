// What loss_high_plateau finds where no record follows.

#include <cmath>

#include "detect/float_log2.h"
#include "detect/loss_high_plateau.h"

namespace nanwatch {
namespace {

constexpr int32_t kEndRecords = 32;  // records at the end; ours
// However it came up, and for so long, without a way back.
constexpr float kStaysShare = 0.25f;  // of all records; ours
constexpr float kStays = 0.8f;        // of the rise of the middle third; ours
constexpr float kLostAtEnd = 0.5f;    // of what was learned; ours: lost_share
constexpr float kFarUp = 4;           // deviations of single losses; ours

}  // namespace

bool LossHighPlateau::StaysUp() const {
  const int32_t n = courses_.standing.records();
  const float best = std::exp(levels_.best);
  const bool clear = levels_.at - levels_.best >= kFarUp * levels_.noise;
  if (n < (clear ? kLeastRecords : kCreptFor) || !IsAboveBest() ||
      static_cast<float>(n) < kStaysShare * static_cast<float>(records_)) {
    return false;
  }
  const float learned = std::exp(levels_.first) - best;
  const float rise = courses_.standing.last() - best;
  // A sparse log has come down before it shows a level: less may be all.
  const bool much = learned >= kSomeLearned * std::exp(levels_.first) ||
                    (clear && rise >= kLostAtEnd * learned &&
                     levels_.first - levels_.best >= kFarUp * levels_.calm);
  return much && rise >= kStays * (courses_.standing.middle() - best);
}

Severity LossHighPlateau::OnEnd(Thresholds t) {
  const double clear = t[kClear];
  if (about_ == About::kGuessing && guessing_.away() && episode_.open()) {
    way_.to_end = true;
    return episode_.On(Severity::kCritical, false, step_.newest, clear);
  }
  if (!episode_.open() && LostFew()) {
    levels_.first = LnOf(courses_.first.begin());
    levels_.best = LnOf(courses_.first.lowest());
    levels_.at = LnOf(courses_.first.last());
    told_ = levels_;
    stood_ = courses_.first.records() / 3;
    way_.to_end = true;
    return episode_.OnSince(step_.left, Severity::kWarning, false, step_.newest,
                            clear);
  }
  const Severity high = high_ >= kEndRecords ? OfHighEnd(t) : Severity::kNone;
  if (high > Severity::kNone) {
    way_.to_end = true;
    return episode_.OnSince(step_.high, high, false, step_.newest, clear);
  }
  if (episode_.open() || !StaysUp()) return episode_.severity();
  about_ = About::kCrept;
  told_ = levels_;
  stood_ = courses_.standing.records();
  way_.to_end = true;
  // A jump may be harder data, which no one can tell from trouble.
  const float rise = courses_.standing.last() - std::exp(levels_.best);
  const Severity severity = courses_.standing.Creeps(kNoJump * rise)
                                ? Severity::kWarning
                                : Severity::kInfo;
  return episode_.OnSince(step_.best, severity, false, step_.newest, clear);
}

Severity LossHighPlateau::OfHighEnd(Thresholds t) const {
  const Severity ceiling = Ceiling(t);
  const float best = levels_.Loss(levels_.best);
  if (ceiling == Severity::kNone || courses_.high.ComesDown(best)) {
    return Severity::kNone;
  }
  if (ceiling == Severity::kInfo && !episode_.open()) return Severity::kWarning;
  if (ceiling < Severity::kCritical) return Severity::kNone;
  // A loss that wanders in health comes half of the way back, for a while.
  const float level = levels_.Loss(levels_.at);
  const bool wanders =
      level < t[kRisen] * best &&
      level - best < kAllLost * (levels_.Loss(levels_.first) - best);
  return wanders ? Severity::kNone : Severity::kCritical;
}

}  // namespace nanwatch
