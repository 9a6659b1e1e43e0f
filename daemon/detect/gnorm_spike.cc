#include "detect/gnorm_spike.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "detect/float_log2.h"
#include "detect/other_objective.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr float kLeastGrowth = 0.693f;  // ln 2, the least that `growth` may be
constexpr float kNews = 8;  // deviations: one norm that stands out; ours

// A spike that shows a way back is none to warn of until it lasts so long.
constexpr int32_t kBriefly = 12;    // updates; ours
constexpr float kGrowsSo = 1.609f;  // ln 5, while the net learns; ours
constexpr float kFalls = 0.5f;      // of a likelihood, in a series' units; ours
constexpr float kFar = 6.908f;      // ln 1,000; ours
constexpr int32_t kFresh = 64;      // norms of a run that has just begun; ours
// How far means of 16 losses must be above their lowest: it learns no more.
constexpr float kWorse = 2;  // deviations of single losses; ours

constexpr float kLearned = 0.105f;  // ln of 1/0.9 of the loss; ours
// Norms of 900 healthy trainings grew 2.9-fold from their 64th on.
constexpr double kMore = 2;      // times `growth`: whatever was learned; ours
constexpr double kGoesOn = 0.5;  // the same, of a thousandfold growth; ours

constexpr ThresholdSpec kThresholds[] = {
    {"warning_nats", 13.8, 3, 1000, "nats",
     "a false alarm in a million excursions"},
    {"critical_nats", 20.7, 3, 1000, "nats", "one in a billion"},
    {"min_ratio", 2, 1, 1e6, "ratio", "ours: less is no trouble"},
    {"hold", 3, 1, 100000, "updates",
     "ours, as for the loss: single batches are noisy"},
    {"critical_hold", 20, 1, 100000, "updates",
     "ours: BLOOM and tr1-13B recovered from shorter ones"},
    {"clear_ratio", 1.5, 1, 1000, "ratio", "ours"},
    {"clear_after", 20, 1, 100000, "updates", "ours"},
    {"critical_steps", 250, 1, 1e9, "steps",
     "tr1-13B recovered within 500, its norm before its loss"},
    {"growth", 10, 2, 1e9, "ratio",
     "ours: nine small nets grew 3.5-fold, those that never zeroed 18 to 446"},
};

}  // namespace

constinit const RuleSpec GnormSpike::kSpec = {
    RuleId::kGnormSpike,
    "gnorm_spike",
    Family::kGradient,
    "The gradient norm is far above its recent level.",
    "The norm stands above its level with `warning_nats` of evidence, at "
    "min_ratio times it, for hold updates in a row (for information below, and "
    "for the first 12 of a spike that comes down; "
    "rule loss_spike says what evidence is). Critical with critical_nats after "
    "critical_hold updates in a row, and critical_steps steps, if it does not "
    "come down, nor the loss that left its level with it. For information "
    "where the run had norms a hundred times as large and the loss does not "
    "move by half a percent of its largest: it has converged; and where it had "
    "larger ones, and the loss stands at a twentieth of its first values or "
    "less; and where a weight of the objective moves (rule loss_spike). Not "
    "where it climbs without a jump from its first 64 norms on, and the loss "
    "is at its lowest. A warning, too, where the mean of 16 norms is "
    "`growth` times its "
    "lowest since the loss last fell by a tenth (and since record 64), or "
    "twice as many times its lowest of all since then, however slowly it came "
    "there (half as many, if that is a thousand times the first norms); or "
    "`growth` times the first norm, where the first 16 grew by about "
    "that a record; but not where the client sees that gradients are made anew "
    "for each update. A learning rate that goes back up to where it was begins "
    "a "
    "new level.",
    "Below clear_ratio times the level for clear_after updates.",
    kThresholds,
    "One batch is for information and three are a warning: norms have long "
    "tails. Their noise has a prior, so the first norms are judged as well. "
    "It is critical only while the norm shows no way back: a spike comes down "
    "from its first update on. The norms of a likelihood grow as its spread "
    "shrinks: up to 1,000-fold, beside a loss that fell far below 0 and is at "
    "its lowest, they are for information. At rest it is, too: trainings "
    "on full batches converge to 1e-5 of their first norms, and Adam wobbles "
    "there by two decades while the loss stands still. Where loss_spike keeps "
    "no level, it is silent, too."};

Severity GnormSpike::OfExcursion(const StepContext& c, Thresholds t) {
  const Series& s = *c.grad_norm;
  const Excursion& x = s.excursion();
  const bool other = HasOtherObjective(c.run, s, 1);
  if (other || IsMeaningless(c)) return Severity::kInfo;
  // A norm may grow while the loss is at its lowest.
  const bool grows = (x.mean_rise() < kGrowsSo && Learns(c)) ||
                     IsOfLikelihood(c, x.mean_rise());
  const bool passes = x.values() < kBriefly && s.comes_down();
  if (x.above() < t[kHold] || x.nats() < t[kNats] || grows || passes) {
    return Severity::kInfo;
  }
  const auto steps = static_cast<double>(c.record.step - x.step());
  const bool stays =
      x.nats() >= t[kCriticalNats] && x.values() >= t[kCriticalHold] &&
      steps >= t[kCriticalSteps] && !c.loss_returns && !s.comes_down();
  return stays ? Severity::kCritical : Severity::kWarning;
}

bool GnormSpike::IsMeaningless(const StepContext& c) {
  return c.at_rest->Explains(c.record) ||
         (c.grad_norm->newest() <= c.at_rest->largest_norm() &&
          c.loss->has_learned_all());
}

bool GnormSpike::Learns(const StepContext& c) {
  const Series& loss = *c.loss;
  return loss.stands() - loss.best() < kWorse * loss.level().noise();
}

// The norms of a likelihood grow as its spread shrinks, while it falls from far
// above 0 to far below.
bool GnormSpike::IsOfLikelihood(const StepContext& c, float growth) {
  const Series& loss = *c.loss;
  return loss.crosses_zero() && loss.first() - loss.stands() >= kFalls &&
         growth < kFar && Learns(c);
}

inline std::optional<float> GnormSpike::GrownFrom(const StepContext& c,
                                                  Thresholds t) {
  // Whoever sees that nothing piles up need not guess it.
  if (c.record.fresh_gradients) return std::nullopt;
  const Series& s = *c.grad_norm;
  if (!pile_.settled()) {
    pile_.Add(s.newest() / s.ValueAt(s.first()), c.rate->rises(),
              c.record.step);
  }
  const float at = s.stands();
  // An `if` of its own keeps the logarithm out of records without growth: in
  // one expression gcc computes both sides.
  const auto grew = [&](float from, double times) {
    const float growth = at - from;
    if (growth < kLeastGrowth) return false;
    return growth >= LnOf(times) && !IsMeaningless(c) &&
           !IsOfLikelihood(c, growth);
  };
  if (pile_.seen() && grew(s.first(), t[kGrowth])) return s.first();
  if (s.values() < kFresh) return std::nullopt;
  least_ = std::min(least_, at);
  const bool far = at - s.first() >= kFar;
  if (grew(least_, (far ? kGoesOn : kMore) * t[kGrowth])) return least_;
  const Series& loss = *c.loss;
  const bool learned =
      !loss.crosses_zero() && loss.stands() < learned_ - kLearned;
  if (learned) learned_ = loss.stands();
  // Where a rate begins anew, so does the best level.
  if (learned || s.best() > lowest_) lowest_ = HUGE_VALF;
  lowest_ = std::min(lowest_, at);
  // A loss that crosses 0 does not show how much is learned.
  if (loss.crosses_zero() || !grew(lowest_, t[kGrowth])) return std::nullopt;
  return lowest_;
}

Severity GnormSpike::OnStep(const StepContext& c, Thresholds t) {
  const Series& s = *c.grad_norm;
  if (!c.norm_taken) return episode_.severity();
  Severity trigger = Severity::kNone;
  const Excursion& x = s.excursion();
  const float above = s.height();
  // Norms of a fresh net that learns may climb from next to nothing.
  const auto usual = [&] {
    return !x.jumped() && s.values() - x.values() <= kFresh && Learns(c);
  };
  const bool high = s.out() && !usual() &&
                    (x.nats() >= t[kNats] || above >= kNews * x.noise()) &&
                    above >= t.Ln(kMinRatio);
  if (high) {
    trigger = OfExcursion(c, t);
    spiked_ = x.values();
    if (!episode_.open() || s.newest() > norm_) {
      norm_ = s.newest();
      nats_ = x.nats();
      usual_ = s.ValueAt(x.base());
    }
  } else {
    spiked_ = 0;
  }
  const std::optional<float> grown_from = GrownFrom(c, t);
  const bool grows = grown_from.has_value();
  if (episode_.severity() < Severity::kWarning) grows_ = grows;
  if (grows_ && grown_from) {
    trigger = std::max(trigger, Severity::kWarning);
    norm_ = s.ValueAt(s.stands());
    usual_ = s.ValueAt(*grown_from);
  }
  if (trigger == Severity::kNone && !episode_.open()) return Severity::kNone;
  const bool calm = !grows && above < t.Ln(kClearRatio);
  const int64_t step = c.record.step;
  const int64_t first = high                    ? x.step()
                        : grows && pile_.seen() ? pile_.step()
                                                : step;
  return episode_.OnSince(first, trigger, calm, step, t[kClear]);
}

void GnormSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->numbers = {{"grad_norm", norm_, ""},
                      {"usual", usual_, ""},
                      {"nats", nats_, "nats"},
                      {"records", static_cast<double>(spiked_), "records"}};
  if (grows_) {
    finding->numbers.push_back({"grown_from", usual_, ""});
    finding->sentence = Sentence(
        "The gradient norm grew from ", usual_, " to ", norm_,
        " little by little. Look whether gradients are zeroed before each "
        "backward pass.");
    return;
  }
  const bool lasts = finding->last_step > finding->opened_step;
  finding->sentence =
      Sentence("The gradient norm ", lasts ? "rose to " : "reached ", norm_,
               ", ", norm_ / usual_, " times its usual ", usual_);
  if (spiked_ > 1) {
    finding->sentence += Sentence(", for ", spiked_, " records in a row");
  }
  finding->sentence += ".";
}

}  // namespace nanwatch
