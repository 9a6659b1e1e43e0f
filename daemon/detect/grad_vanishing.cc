#include "detect/grad_vanishing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "detect/float_log2.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

// The loss went with it: that is convergence.
constexpr float kConverged = 0.01f;  // of the usual loss; ours
// But not from here to exactly 0 from one record to the next: nothing entered
// that loss, all of its targets masked, or a filter hides a NaN.
constexpr double kGone = 0.1;  // of the usual loss; ours

float Log2OfSize(double loss) {
  const double size = std::clamp(std::fabs(loss), 0x1p-120, 0x1p120);
  return Log2(static_cast<float>(size));
}

constexpr int kFewNorms = 8;  // before norms of exactly 0; ours
constexpr int kRests = 48;    // records of a loss of 0; as Standstill's
constexpr float kHalf = 1;    // of the loss is learned, log2; ours
// Full batches lead to a minimum without a rise of the loss.
constexpr int16_t kRises = 2;       // losses; ours
constexpr float kRounding = 1e-4f;  // of the loss: no rise; ours

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", 1e-3, 1e-12, 0.5, "of the usual norm",
     "ours: SageMaker's 1e-7 and MindInsight's 1e-9 a mean element would "
     "accuse every large model"},
    {"hold", 10, 1, 100000, "updates", "SageMaker: 10 good steps"},
    {"min_samples", 64, 16, 128, "updates", "ours"},
    {"clear_ratio", 1e-2, 1e-12, 1, "of the usual norm", "ours"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
    {"far", 1e-6, 1e-12, 0.5, "of the highest usual norm",
     "ours: batches leave a gradient of their own at any loss but 0"},
};

}  // namespace

constinit const RuleSpec GradVanishing::kSpec = {
    RuleId::kGradVanishing,
    "grad_vanishing",
    Family::kGradient,
    "The gradient norm fell to next to nothing: the weights hardly change any "
    "more.",
    "The norm is below ratio times its usual level (the mean of about 64 "
    "healthy ones, from min_samples on; exactly 0 beside a loss that is not, "
    "from 8 on) at hold updates "
    "in a row, and the "
    "loss did not fall a hundredfold from its usual level with it, or fell to "
    "exactly 0 at once. Or it is below far times its highest usual level, and "
    "less than half of the highest usual loss is gone (within the first 64 "
    "norms: where the loss rises now and then beside such norms, as that of "
    "full batches never does). Not where both went down "
    "without any noise for 32 "
    "updates, and the loss stays there: full batches at a minimum. Or it is "
    "exactly 0 in the first 128 records (48 of a log that is over) with a loss "
    "of 0.001 and more, since the learning rate was at its highest, of a run "
    "that was not resumed, and a straight line through those losses falls by "
    "no more than its deviation, of 8 % at most; critical after 256. Of losses "
    "that cross 0, or follow rewards, such a norm is a warning by itself.",
    "Above clear_ratio times that level for clear_after updates, or the new "
    "level stays for 256. Of a norm of 0 from the start on: the loss falls.",
    kThresholds,
    "Absolute thresholds depend on the number of parameters: 1e-7 a mean "
    "element accuses every large model. So the norm is held against the "
    "run's own level, which may drift. Convergence is excused, in two "
    "forms. One is a loss that goes to 0: to a hundredth of its mean over "
    "the last 64 healthy records. That mean lags as the norm's does; held "
    "against the loss of just before, noiseless data that converge "
    "were accused. The other is full batches that reach the loss that "
    "remains: both numbers come down without any noise, which mini-batches "
    "never do. A flat spot that full batches reach so is excused with it."};

inline void GradVanishing::Learn(const StepContext& c,
                                 std::optional<double> loss) {
  usual_.Add(c.norm_log2);
  if (usual_.values() >= kFewNorms) peak_ = std::max(peak_, usual_.at());
  held_ = rose_ = 0;
  if (!loss) return;
  newest_loss_ = static_cast<float>(*loss);
  glide_.Add(c.norm_log2, newest_loss_);
  const bool known = c.loss->values() > 0 && !c.loss->crosses_zero();
  usual_loss_.Add(known ? c.loss->y() * kLog2OfE : Log2OfSize(*loss));
  highest_loss_ = std::max(highest_loss_, usual_loss_.at());
  loss_ = *loss;
}

bool GradVanishing::IsFar(float norm, const StepContext& c,
                          double ratio) const {
  if (norm >= peak_ - 1) return false;
  const std::optional<double> loss = FiniteLoss(c.record);
  return loss && !c.loss->crosses_zero() &&
         Log2OfSize(*loss) > highest_loss_ - kHalf &&
         norm < peak_ + Log2(static_cast<float>(ratio));
}

bool GradVanishing::IsConverged(double loss) const {
  return !loss_gone_ &&
         (Log2OfSize(loss) <= usual_loss_.at() + Log2(kConverged) ||
          glide_.Explains(static_cast<float>(loss)));
}

void GradVanishing::NoteRise(double loss) {
  const float before = std::exchange(newest_loss_, static_cast<float>(loss));
  const bool rises = newest_loss_ > before + kRounding * std::fabs(before);
  rose_ = std::min<int16_t>(static_cast<int16_t>(rose_ + rises), kRises);
}

Severity GradVanishing::OnNone(const StepContext& c, std::optional<double> loss,
                               Thresholds t) {
  if (loss) none_.Add(c, *loss);
  norm_ = 0;
  const Severity trigger = none_.severity();
  return episode_.OnSince(none_.step(), trigger, trigger == Severity::kNone,
                          c.record.step, t[kClear]);
}

Severity GradVanishing::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (!r.has(StepField::kGradNorm)) return episode_.severity();
  const double norm = r[StepField::kGradNorm];
  if (!std::isfinite(norm) || norm < 0 || c.scaler.in_grace() ||
      c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  const std::optional<double> loss = FiniteLoss(r);
  // The loss says that there is something to learn from, or went at once.
  const bool left = loss && *loss == 0 && std::fabs(loss_) >= kGone;
  const bool gone = norm == 0 && loss && (*loss != 0 || left);
  const bool known = usual_.values() >= (gone ? kFewNorms : t[kMinSamples]);
  if (norm == 0 && !known) return OnNone(c, loss, t);
  if (!episode_.open()) none_.End();
  const float log2 = c.norm_log2;
  // The ratio is at most a half: most records need no logarithm of it.
  const bool far = IsFar(log2, c, t[kFar]);
  const auto falls_from = [&](float usual) {
    return log2 < usual - 1 &&
           log2 < usual + Log2(static_cast<float>(t[kRatio]));
  };
  if (!falls_from(peak_)) near_step_ = r.step;
  const bool low = far || (known && falls_from(usual_.at()));
  if (!low) {
    const float usual = usual_.at();
    Learn(c, loss);
    if (!episode_.open()) return Severity::kNone;
    const bool clean = log2 >= usual + Log2(static_cast<float>(t[kClearRatio]));
    return episode_.On(Severity::kNone, clean, r.step, t[kClear]);
  }
  norm_ = static_cast<float>(norm);
  if (held_ == 0) glide_.Meet(log2);
  if (held_ == 0 && !far) near_step_ = r.step - 1;
  ++held_;
  if (loss) NoteRise(*loss);
  loss_gone_ = left;
  const bool converged =
      loss && (IsConverged(*loss) || (!known && rose_ < kRises));
  // Triplets are seldom active early: such a batch has no loss and no gradient.
  const bool may_rest = loss && *loss == 0 && usual_.values() < t[kMinSamples];
  const double hold = may_rest ? std::max<double>(t[kHold], kRests) : t[kHold];
  const Severity trigger =
      held_ >= hold && !converged ? Severity::kWarning : Severity::kNone;
  usual_norm_ = std::exp2(far ? peak_ : usual_.at());
  usual_.Reject();
  return episode_.OnSince(near_step_ + 1, trigger, false, r.step, 1);
}

// A log that is over shows no more.
Severity GradVanishing::OnEnd(Thresholds t) {
  const Severity at_end = none_.at_end();
  if (at_end <= episode_.severity()) return episode_.severity();
  return episode_.OnSince(none_.step(), at_end, false, none_.newest_step(),
                          t[kClear]);
}

void GradVanishing::DescribeNone(Finding* finding) const {
  finding->sentence = Sentence(
      "The gradient norm was exactly 0 in each of ", none_.records(),
      " records, ",
      none_.by_loss() ? "and the loss does not fall beside it"
                      : "beside losses that are not 0",
      ": no gradient reaches the weights, or the norm is not collected.");
  finding->numbers = {
      {"grad_norm", 0, ""},
      {"records", static_cast<double>(none_.records()), "records"}};
}

void GradVanishing::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (none_.records() > 0) return DescribeNone(finding);
  finding->sentence = Sentence("The gradient norm is ", norm_, "; ",
                               usual_norm_, " was usual before");
  finding->sentence +=
      loss_gone_
          ? Sentence(", and the loss went from ", loss_,
                     " to exactly 0 with it: nothing enters it any more, or "
                     "the log hides a NaN.")
          : ", and the loss did not go with it.";
  finding->numbers = {{"grad_norm", norm_, ""}, {"usual", usual_norm_, ""}};
}

}  // namespace nanwatch
