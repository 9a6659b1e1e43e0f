#include "detect/gnorm_explosion.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "detect/float_log2.h"
#include "detect/program.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int kAverageSamples = 10;  // norms; torch_npu ASD
constexpr float kCalm = 0.693f;      // ln 2, times the level; ours
constexpr float kNews = 3;        // nats of a loss that moves; as loss_spike's
constexpr int32_t kWithLoss = 4;  // records, as loss_spike's
// Non-finite norms at a start that an unseen scaler may answer: as many as its
// grace before a scale is known.
constexpr int kUnseenStart = 36;  // as ScalerTracker

constexpr ThresholdSpec kThresholds[] = {
    {"max_ratio", 10, 1.5, 1e9, "ratio", "Megatron: 10 x max of 100"},
    {"min_samples", 64, 2, 128, "updates", "ours"},
    {"average_ratio", 1e6, 10, 1e12, "ratio", "torch_npu ASD"},
    {"critical_hold", 10, 1, 100000, "updates",
     "ours: one clipped bad batch is survived"},
    {"nonfinite_hold", 3, 1, 1000, "updates",
     "ours: where nothing says whether the update was applied"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
    {"critical_steps", 250, 1, 1e9, "steps", "as gnorm_spike's"},
    {"lost_ratio", 1000, 10, 1e12, "ratio", "ours: nothing is left to clip"},
    {"hold", 3, 1, 1000, "updates", "as gnorm_spike's"},
};

}  // namespace

constinit const RuleSpec GnormExplosion::kSpec = {
    RuleId::kGnormExplosion,
    "gnorm_explosion",
    Family::kGradient,
    "The gradient norm is an order of magnitude above anything healthy, or "
    "non-finite in an update that was applied, or no number of fp32 when "
    "squared.",
    "max_ratio times the largest of the last 128 healthy norms (from "
    "min_samples on), or average_ratio times their level; for information "
    "until hold in a row where the loss does not move, but for lost_ratio (of "
    "losses that follow rewards at any time), or "
    "where healthy norms of the run were as large (a hard "
    "sample of a net that has learned all the others), or a hundred times as "
    "large and the loss does not move (it has converged); critical for "
    "critical_hold updates in a row over critical_steps steps, if the loss "
    "that left its level with it does not come down, or at "
    "lost_ratio times the largest, or when a non-finite norm is applied, or "
    "at nonfinite_hold of those in a row where that is not known; a warning "
    "also at 2^64 and more (but in fp64). For information where the records "
    "end with fewer norms that are not finite.",
    "Finite and below twice the level for clear_after updates.",
    kThresholds,
    "Steps count and not records: a spike is as long however often it is "
    "logged. Where a log has no flags, a norm that is not finite does not "
    "prove that its update was applied; the next loss does. One norm of 2^64 "
    "or more is a warning, but in fp64: fp32 does not hold its square, so a "
    "clip makes 0 of all gradients, and Adam may divide by infinity. A program "
    "that does neither may train on. What it has converged to is excused as by "
    "gnorm_spike. A learning rate that goes back up to where it was begins a "
    "new level."};

bool GnormExplosion::Explodes(const Series& s, Thresholds t) const {
  if (samples_ >= t[kMinSamples] &&
      s.newest() >= t[kMaxRatio] * healthy_.maximum()) {
    return true;
  }
  return samples_ >= kAverageSamples && s.height() > t.Ln(kAverageRatio);
}

Severity GnormExplosion::OnNoNumber(const StepContext& c, double norm,
                                    bool applied, double hold) {
  survival_.Restart();
  told_fate_ = c.scaler.fate();
  norm_ = norm;
  wide_ = std::isfinite(norm);
  Severity trigger = Severity::kNone;
  if (no_number_.Add(true, c.record.step) >= hold || applied) {
    // Finite, it may be what a sound training begins with, unclipped.
    trigger = wide_ ? Severity::kWarning : Severity::kCritical;
  }
  // Of means the first ones are left out, as any of them may be one
  // overflow's (settings): one that stands for several is not.
  const int64_t told = CountOf(c.run, "norms_not_finite_since");
  const bool more = told > 0 && told < no_number_.since();
  if (more) trigger = std::max(trigger, Severity::kInfo);
  return episode_.OnSince(more ? told : no_number_.since(), trigger, false,
                          c.record.step, 1);
}

Severity GnormExplosion::OnStep(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kGradNorm)) return episode_.severity();
  // Where nothing tells it and it went through, the next loss is not finite,
  // and loss_nonfinite says so.
  const bool told = FateIsTold(c);
  const Fate fate = told ? c.scaler.presumed_fate() : c.scaler.fate();
  if (fate == Fate::kLost || c.scaler.in_grace()) return episode_.severity();
  const double norm = c.record[StepField::kGradNorm];
  if (!std::isfinite(norm) || IsWide(c.run, norm)) {
    const bool starts = c.grad_norm->values() == 0;
    return OnNoNumber(c, norm, fate == Fate::kApplied,
                      starts ? kUnseenStart : t[kNonfiniteHold]);
  }
  no_number_.Add(false, c.record.step);
  if (c.record.has(StepField::kLoss)) {
    survival_.AddLoss(FiniteLoss(c.record).has_value());
  }
  if (!c.norm_taken) return episode_.severity();  // a placeholder
  const Series& s = *c.grad_norm;
  // A clip survives one batch; a loss that does not move shows it.
  const bool moves = c.loss->out() && !c.loss->has_learned_all() &&
                     c.loss->excursion().nats() >= kNews;
  if (c.rate->restarts()) {
    healthy_ = {};
    far_ = {};
    samples_ = 0;
  }
  Severity trigger = Severity::kNone;
  if (Explodes(s, t)) {
    const bool goes_on = episode_.open() && std::isfinite(norm_) && !wide_;
    norm_ = goes_on ? std::max(norm_, norm) : norm;
    wide_ = false;
    limit_ = healthy_.maximum();
    const int32_t updates = far_.Add(true, c.record.step);
    const auto steps = static_cast<double>(c.record.step - far_.since());
    const bool lost = norm >= t[kLostRatio] * limit_;
    const bool stays =
        updates >= t[kCriticalHold] &&
        ((steps >= t[kCriticalSteps] && !c.loss_returns) || lost);
    const bool rests = c.at_rest->Explains(c.record);
    const bool known = s.newest() <= c.at_rest->largest_norm();
    const bool survived = !moves && c.loss->values() > 0 && !lost;
    // With what is expected of rewards it grows, too.
    const bool grows = c.level == LevelKind::kOfRewards && !lost;
    const bool passes = updates < t[kHold] && (known || survived);
    beside_loss_ = kWithLoss;
    trigger = rests || grows ? Severity::kInfo
              : stays        ? Severity::kCritical
              : passes       ? Severity::kInfo
                             : Severity::kWarning;
  } else {
    healthy_.Push(s.newest());
    if (samples_ < 128) ++samples_;
    far_.Add(false, c.record.step);
    if (beside_loss_ > 0 && --beside_loss_ > 0 && moves) {
      trigger = Severity::kWarning;
    }
  }
  if (trigger == Severity::kNone && !episode_.open()) return Severity::kNone;
  return episode_.On(trigger, s.height() < kCalm, c.record.step, t[kClear]);
}

// Returns a note of norms whose fate the next loss would tell: there is none.
Severity GnormExplosion::OnEnd(Thresholds) {
  if (no_number_.records() == 0 || episode_.open()) return episode_.severity();
  const int64_t since = no_number_.since();
  return episode_.OnSince(since, Severity::kInfo, false, since, 1);
}

void GnormExplosion::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (wide_) {
    finding->sentence = Sentence(
        "The gradient norm is ", norm_, " (",
        no_number_.newest() == 1
            ? "once"
            : Sentence(no_number_.newest(), " times in a row"),
        " from step ", no_number_.since(),
        "), and its square is no number of fp32, though the gradients may be: "
        "a clip to a norm makes 0 of them all then, and Adam divides by "
        "infinity where one of them is as large: such updates do nothing.");
    finding->numbers = {{"grad_norm", norm_, ""}};
    return;
  }
  if (std::isfinite(norm_)) {
    const bool lasts = finding->last_step > finding->opened_step;
    finding->sentence = Sentence(
        "The gradient norm ", lasts ? "rose to " : "reached ", norm_,
        "; the largest of 128 healthy records before was ", limit_, ".");
    finding->numbers = {{"grad_norm", norm_, ""},
                        {"largest_healthy", limit_, ""}};
    return;
  }
  finding->numbers = {{"grad_norm", norm_, ""}};
  if (survival_.IsSure()) {
    const bool once = no_number_.newest() == 1;
    finding->sentence = Sentence("The gradient norm was ", norm_);
    finding->sentence +=
        once ? Sentence(" at step ", no_number_.since())
             : Sentence(" ", no_number_.newest(), " times in a row from step ",
                        no_number_.since());
    // A sum of squares may overflow where no gradient did.
    finding->sentence += !std::isnan(norm_) ? ", and the weights are not spoilt"
                         : once             ? ", and its update was left out"
                                : ", and those updates were left out";
    finding->sentence += ": the losses since are finite.";
    return;
  }
  finding->sentence = Sentence(
      "The gradient norm is ", norm_,
      told_fate_ == Fate::kApplied
          ? " and the update was applied: the weights are spoilt."
      : no_number_.newest() == 1
          ? ", and nothing says that the update was skipped."
          : " again and again, and nothing says that those updates were "
            "skipped.");
}

}  // namespace nanwatch
