#include "detect/rival_gone.h"

#include <algorithm>
#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int32_t kUntilSeen = 32;  // losses; ours
constexpr int8_t kFirst = 5;        // losses; as Series::first()
constexpr float kGone = 0.005f;     // whatever it began with; ours
constexpr int32_t kLoses = 5;       // low losses that a higher one undoes; ours
constexpr float kSizable = 0.01f;   // a first loss, of a cross-entropy; ours

constexpr ThresholdSpec kThresholds[] = {
    {"share", 0.0005, 0, 1, "ratio",
     "ours: discriminators of healthy DCGANs come down to 0.0007 of it"},
    {"hold", 32, 2, 100000, "records",
     "ours: a discriminator may win for a "
     "while"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
};

}  // namespace

constinit const RuleSpec RivalGone::kSpec = {
    RuleId::kRivalGone,
    "rival_gone",
    Family::kLoss,
    "One of two rival losses is next to nothing: the other learns nothing.",
    "Where the optimizers of a rank have losses of their own (a GAN), one is "
    "below `share` of its first losses, and below 0.005, for `hold` records in "
    "a row; single ones may be higher, of low ones no more than one in five.",
    "clear_after losses in a row that are not.",
    kThresholds,
    "A discriminator that is always right gives its generator no gradient. It "
    "may be so for some batches. A loss that is below 0 (of a critic) has no "
    "such level. Of one that stands still loss_not_decreasing tells."};

Severity RivalGone::OnStep(const StepContext& c, Thresholds t) {
  const Series& s = *c.loss;
  // That two losses are rivals is seen after some records.
  young_ = s.values() <= kUntilSeen;
  if (c.level != LevelKind::kOfRivals && !young_) return episode_.severity();
  // A series keeps finite values alone.
  if (!c.record.has(StepField::kLoss) || s.values() == 0 ||
      !std::isfinite(c.record[StepField::kLoss])) {
    return episode_.severity();
  }
  if (records_ < kFirst) {
    ++records_;
    if (s.newest() > 0) first_ += (s.newest() - first_) / ++firsts_;
  }
  // One that is ever below 0 is a critic's. Exactly 0 is next to nothing, too.
  if (s.newest() < 0) critic_ = true;
  const bool rival = c.level == LevelKind::kOfRivals;
  const bool low = !critic_ && first_ >= kSizable && s.newest() <= kGone &&
                   s.newest() <= t[kShare] * first_;
  if (low) loss_ = s.newest();
  // Single batches that it loses do not end it.
  lows_ = static_cast<int8_t>(
      std::clamp(low ? lows_ + 1 : lows_ - kLoses, 0, 2 * kLoses));
  return episode_.OnRecord(low || lows_ > 0, t[kHold],
                           rival ? Severity::kWarning : Severity::kNone,
                           c.record.step, t[kClear]);
}

void RivalGone::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->SayBoth([&](Tense tense) {
    return Sentence("The loss of one of two rivals ", In(tense, "is ", "was "),
                    loss_, " for ", episode_.held(),
                    " records, and began at about ", first_,
                    ": it always wins, and the other learns nothing from it.");
  });
  finding->numbers = {{"loss", loss_, ""}, {"first", first_, ""}};
}

}  // namespace nanwatch
