#include "detect/scale_limit_cycle.h"

#include <algorithm>

#include "detect/sentence.h"
#include "scaler/model.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"turns", 6, 2, 20, "turns", "apex#1135"},
    {"clear_turns", 1, 0, 20, "turns", "ours"},
};

}  // namespace

constinit const RuleSpec ScaleLimitCycle::kSpec = {
    RuleId::kScaleLimitCycle,
    "scale_limit_cycle",
    Family::kScale,
    "The loss scale swings up and down and settles nowhere.",
    "It changed direction turns times within 20 updates.",
    "At most clear_turns within 200 updates.",
    kThresholds,
    "A scaler that follows statistics moves its scale as it likes. The scale "
    "of a layer is judged from the layer's first overflow on, where it never "
    "falls without one."};

Severity ScaleLimitCycle::OnStep(const StepContext& c, Thresholds t) {
  const double scale = c.scaler.scale().value_or(0);
  bool turn = false;
  // What was rounded in printing, or made of its logarithm, is no turn.
  const ScalerSpec* spec = c.scaler.spec();
  const bool statistical = spec != nullptr && FollowsStatistics(spec->growth);
  if (!statistical && scale_ > 0 && scale != scale_ &&
      !SameScale(scale, scale_)) {
    const int8_t direction = scale > scale_ ? 1 : -1;
    turn = direction_ != 0 && direction != direction_;
    direction_ = direction;
  }
  if (turn) {
    const bool begins = turns_20_.ones() == 0;
    low_ = begins ? std::min(scale, scale_) : std::min({low_, scale, scale_});
    high_ = begins ? std::max(scale, scale_) : std::max({high_, scale, scale_});
  }
  scale_ = scale;
  // The windows are of updates: those that were not recorded count, or a log
  // that shows every hundredth would see a healthy scaler turn at each line.
  const int64_t unseen =
      std::clamp<int64_t>(c.scaler.step_gap() - 1, 0, kUnseen);
  const int64_t without_turn = SteadySince(c, &update_) + unseen;
  turns_20_.Skip(without_turn);
  turns_200_.Skip(without_turn);
  turns_20_.Push(turn);
  turns_200_.Push(turn);
  if (!turn && !episode_.open()) return Severity::kNone;
  Severity trigger = Severity::kNone;
  if (turns_20_.ones() >= t[kTurns]) {
    trigger = Severity::kWarning;
    turns_ = static_cast<int16_t>(turns_20_.ones());
  }
  return episode_.On(trigger, turns_200_.ones() <= t[kClearTurns],
                     c.record.step, 1);
}

void ScaleLimitCycle::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The loss scale changed direction ", turns_,
               " times within 20 updates, between ", low_, " and ", high_,
               ": it grows again before a scale was tried for long.");
  finding->numbers = {{"turns", static_cast<double>(turns_), ""},
                      {"scale_low", low_, ""},
                      {"scale_high", high_, ""}};
}

}  // namespace nanwatch
