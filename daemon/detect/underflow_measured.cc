#include "detect/underflow_measured.h"

#include <algorithm>
#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kSmooth = 1.0 / 20;  // of an update; ours
constexpr int kFirst = 16;      // updates that say what a run begins with; ours
constexpr double kRose = 0.05;  // a share of zeros; ours
constexpr double kFollow = 1.0 / 256;  // of the usual share of zeros; ours
constexpr int kNewLevel = 512;  // updates: frozen layers stay frozen; ours
// Records: one batch may well miss an expert; ours.
constexpr int16_t kHold = 5;

constexpr ThresholdSpec kThresholds[] = {
    {"warning", 0.01, 1e-6, 1, "of the elements", "Transformer Engine; ours"},
    {"critical", 0.10, 1e-6, 1, "of the elements", "ours"},
    {"rise", 0.05, 1e-4, 1, "of the elements",
     "ours: batches of a sparse model differ by a percent"},
    {"scale_fell", 16, 1, 1e12, "ratio", "as scale_collapse's warning"},
    {"all_zero", 3, 1, 1000, "updates", "SageMaker, MindInsight: 100 %"},
    {"dead_for", 100, 1, 1e9, "steps", "ours: what died in the first steps"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec UnderflowMeasured::kSpec = {
    RuleId::kUnderflowMeasured,
    "underflow_measured",
    Family::kGradient,
    "Gradient elements are lost to underflow.",
    "Over about 20 updates, a share of `warning` of the elements underflows; "
    "critical from a share of `critical` on, if that is 5 percentage points "
    "more than at first. Or the share of zeros rose by `rise` and by four "
    "times its usual change: for information when it did so at once and at the "
    "same scale (frozen layers do), or where neither a loss scale nor fp16 is "
    "known of; critical when it rose by `critical` while "
    "the scale fell `scale_fell` times, or when everything is zero for "
    "`all_zero` updates, though the loss is not 0. However small it is, a "
    "tensor that became exactly 0 and stays so for 5 records, where few "
    "elements were zero, is named for information. A warning where half of the "
    "elements that were not 0 at first became so in the first 64 updates, "
    "after the loss rose by a quarter or the norm threefold, are so for "
    "`dead_for` steps, and the loss is where it began. A share of "
    "zeros that was there from the beginning is none of it.",
    "Below half of `warning` and half of `rise` for `clear_after` updates.",
    kThresholds,
    "A share of zeros from the beginning is sparsity, so only its rise "
    "counts. Zeros that the output of the op has, too (the mask of a ReLU or "
    "of dropout), are none of it, where the statuses of a step tell both. A "
    "rise that comes at once and at the same scale is a frozen "
    "layer, which is for information. So is a slow one where neither a "
    "scale nor fp16 is known of: units die. Where the loss is exactly 0 all "
    "gradients are: a margin is kept. Half of a model that dies in its "
    "first 64 updates is a warning if loss or norm shot up before, the "
    "loss had not fallen by a tenth (but one that follows rewards), and it "
    "stays there for 100 steps: a "
    "rate too high for fresh weights leaves no level that another rule "
    "could see lost. Without that shot they are layers that were frozen or "
    "cut off."};

Severity UnderflowMeasured::JudgeFraction(double fraction, Thresholds t) {
  fraction_ =
      fraction_ < 0 ? fraction : fraction_ + kSmooth * (fraction - fraction_);
  if (fractions_ < kFirst) {
    ++fractions_;
    first_level_ += (fraction - first_level_) / fractions_;
    if (fractions_ < kFirst) return Severity::kNone;
  }
  if (fraction_ >= t[kCritical] && fraction_ >= first_level_ + kRose) {
    return Severity::kCritical;
  }
  return fraction_ >= t[kWarning] ? Severity::kWarning : Severity::kNone;
}

void UnderflowMeasured::LearnZeros(double zeros, double scale) {
  const double weight = zero_samples_ <= kFirst ? 1.0 / zero_samples_ : kFollow;
  usual_zeros_ += weight * (zeros - usual_zeros_);
  if (last_zeros_ >= 0) {
    deviation_ +=
        static_cast<float>(std::max(weight, kSmooth) *
                           (std::fabs(zeros - last_zeros_) - deviation_));
  }
  usual_scale_ = scale;
  jump_ = 0;
  risen_ = 0;
}

void UnderflowMeasured::FollowRate(const StepRecord& record) {
  constexpr float kSteep = 4;  // times the recent rate; ours
  since_rise_ = std::min<int16_t>(since_rise_ + 1, kLongAgo);
  if (!record.has(StepField::kLearningRate)) return;
  const auto rate = static_cast<float>(record[StepField::kLearningRate]);
  if (rate_ > 0 && rate >= kSteep * rate_) since_rise_ = 0;
  rate_ = rate;
}

// The share of zeros may come with a later record than the tensors.
void UnderflowMeasured::TakeName(const StepContext& c) {
  if (c.zeroed_name.empty()) return;
  death_.AddTensor();
  if (episode_.open()) return;
  const bool dies = death_.suspected() && !name_.get().empty();
  if (name_held_ > 0 || dies) {  // others are looked at later, or follow
    name_more_ += 1 + c.gradients->zeroed_more;
    return;
  }
  name_.Set(c.zeroed_name);
  name_step_ = c.record.step;
  name_more_ = c.gradients->zeroed_more;
  name_held_ = 0;
  const double scale = c.scaler.scale().value_or(0);
  name_alone_ = since_rise_ >= kLongAgo && !(scale > 0 && scale < usual_scale_);
}

Severity UnderflowMeasured::JudgeName(double zeros) {
  const double rise = zeros - usual_zeros_;
  if (rise <= 4 * deviation_) {
    if (!episode_.open() && !death_.suspected()) name_.Set("");
    name_held_ = 0;
    return Severity::kNone;
  }
  if (name_.get().empty()) return Severity::kNone;
  name_held_ = std::min<int16_t>(name_held_ + 1, kHold);
  return name_held_ == kHold && rise > zeros / 2 ? Severity::kInfo
                                                 : Severity::kNone;
}

Severity UnderflowMeasured::JudgeZeros(const StepContext& c, double zeros,
                                       Thresholds t) {
  const double scale = c.scaler.scale().value_or(0);
  if (zero_samples_ < kFirst) {
    ++zero_samples_;
    zeros_ = zeros_ < 0 ? zeros : zeros_ + (zeros - zeros_) / zero_samples_;
    LearnZeros(zeros, scale);
    last_zeros_ = zeros;
    return Severity::kNone;
  }
  zero_samples_ = kFirst + 1;
  const double up = zeros - last_zeros_;
  last_zeros_ = zeros;
  zeros_ += kSmooth * (zeros - zeros_);
  const double norm = c.record.get(StepField::kGradNorm).value_or(0);
  all_zero_ = zeros >= 1 && !(norm > 0) ? all_zero_ + 1 : 0;
  if (all_zero_ >= t[kAllZero] && usual_zeros_ < 0.999) {
    return Severity::kCritical;
  }
  const Severity named = JudgeName(zeros);
  const double rise = zeros_ - usual_zeros_;
  const double limit = std::max<double>(t[kRise], 4 * deviation_);
  // What is not learnt from yet is a rise in the making.
  if (zeros - usual_zeros_ < limit / 2 && rise < limit) {
    LearnZeros(zeros, scale);
    return named;
  }
  if (up > 0 && scale == usual_scale_) {
    jump_ = std::max(jump_, static_cast<float>(up));
  }
  if (rise < limit) return named;
  const bool fell = scale > 0 && scale * t[kScaleFell] <= usual_scale_;
  if (fell && rise >= t[kCritical]) return Severity::kCritical;
  if (jump_ < rise / 2) {
    // Elsewhere these are units that died, or that a margin satisfies.
    const bool small_range = scale > 0 || HasFp16(c.run);
    return small_range ? Severity::kWarning : Severity::kInfo;
  }
  if (++risen_ >= kNewLevel) zero_samples_ = 0;
  return Severity::kInfo;
}

Severity UnderflowMeasured::JudgeDeath(const StepRecord& record, Thresholds t) {
  const auto share = record.get(StepField::kZeroFraction);
  if (share && *share >= 0 && *share <= 1) {
    death_.AddZeros(*share, record.step);
  }
  died_ = death_.IsSure(record.step, t[kDead]);
  return died_ ? Severity::kWarning : Severity::kNone;
}

void UnderflowMeasured::SayOfDeath(Finding* finding) const {
  finding->sentence = Sentence(
      100 * zeros_, " % of the gradient elements are exactly 0 since step ",
      death_.since(), ", and were not at first",
      death_.has_level()
          ? Sentence("; the loss is ", static_cast<double>(death_.loss()),
                     " and began at ", static_cast<double>(death_.first_loss()))
          : std::string(),
      ": most of the model learns nothing.");
}

Severity UnderflowMeasured::OnStep(const StepContext& c, Thresholds t) {
  const auto fraction = c.record.get(StepField::kUnderflowFraction);
  auto zeros = c.record.get(StepField::kZeroFraction);
  uint64_t elements = 0;
  if (!zeros && c.gradients != nullptr) {
    elements = c.gradients->range.elements();
    if (elements > 0) {
      zeros = static_cast<double>(c.gradients->range.zeros()) /
              static_cast<double>(elements);
    }
  }
  if (fraction || zeros || c.gradients != nullptr) FollowRate(c.record);
  // Nothing is left to learn of this batch (a margin that is kept); and what a
  // loss that is not finite leaves of the gradients tells nothing.
  if (const auto loss = c.record.get(StepField::kLoss)) {
    if (!std::isfinite(*loss)) return episode_.severity();
    if (death_.possible()) {
      const double norm = c.record.get(StepField::kGradNorm).value_or(0);
      death_.Add(*loss, norm > 0 && norm < 1e30 ? static_cast<float>(norm) : 0,
                 c.level == LevelKind::kKept);
    }
    if (*loss == 0 && zeros && *zeros >= 1) {
      all_zero_ = 0;
      return episode_.On(Severity::kNone, true, c.record.step, t[kClear]);
    }
  }
  if (c.gradients != nullptr) TakeName(c);
  if (!fraction && !zeros) return episode_.severity();
  if (c.scaler.in_grace() || c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  if (zeros && elements != elements_) {  // other tensors are observed now
    elements_ = elements;
    zeros_ = last_zeros_ = -1;
    usual_zeros_ = 0;
    deviation_ = jump_ = 0;
    zero_samples_ = all_zero_ = 0;
    name_.Set("");
  }
  Severity trigger = JudgeDeath(c.record, t);
  if (fraction && *fraction >= 0 && *fraction <= 1) {
    trigger = std::max(trigger, JudgeFraction(*fraction, t));
  }
  if (zeros && *zeros >= 0 && *zeros <= 1) {
    trigger = std::max(trigger, JudgeZeros(c, *zeros, t));
  }
  if (trigger != Severity::kNone) {
    if (const ScaleAdvice advice = AdviceFrom(c); advice.known) {
      advice_ = advice;
    }
  }
  const bool clean = !died_ && fraction_ < t[kWarning] / 2 &&
                     zeros_ - usual_zeros_ < t[kRise] / 2;
  const bool was_open = episode_.open();
  episode_.On(trigger, clean, c.record.step, t[kClear]);
  if (died_) {
    episode_.OpenedAt(death_.since());
  } else if (!was_open && !name_.get().empty()) {
    episode_.OpenedAt(name_step_);
  }
  return episode_.severity();
}

void UnderflowMeasured::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (died_) {
    SayOfDeath(finding);
  } else if (all_zero_ > 0) {
    finding->sentence = Sentence("Every gradient element is 0 in ", all_zero_,
                                 " records in a row.");
  } else if (zeros_ >= 0 && zeros_ - usual_zeros_ > std::max(fraction_, 0.0)) {
    finding->sentence =
        Sentence(100 * zeros_, " % of the gradient elements are 0, ",
                 100 * usual_zeros_, " % were before");
    finding->sentence +=
        jump_ >= (zeros_ - usual_zeros_) / 2
            ? Sentence("; it rose at once",
                       usual_scale_ > 0 ? " and at the same scale" : "",
                       ", as when layers are frozen.")
            : std::string(".");
  } else {
    finding->sentence = Sentence(100 * std::max(fraction_, 0.0),
                                 " % of the gradient elements underflow.");
  }
  if (!name_.get().empty()) {
    finding->subject.op = name_.get();
    finding->subject.slot = Slot::kGradInput;
    finding->sentence += Sentence(" The gradient of ", name_.get());
    if (name_more_ > 0) {
      finding->sentence += Sentence(" and ", name_more_, " more");
    }
    finding->sentence += name_held_ > 0 || died_
                             ? Sentence(" is exactly 0 since step ", name_step_,
                                        ", and was not before.")
                             : Sentence(" was exactly 0 from step ", name_step_,
                                        " on, and is no more.");
  }
  finding->numbers = {{"underflow", std::max(fraction_, 0.0), "fraction"},
                      {"zeros", std::max(zeros_, 0.0), "fraction"},
                      {"usual_zeros", usual_zeros_, "fraction"}};
  if (died_) {
    finding->numbers.push_back(
        {"first_loss", static_cast<double>(death_.first_loss()), ""});
  }
  if (name_held_ > 0 && name_alone_) {
    finding->numbers.push_back({"zeroed_tensors", 1.0 + name_more_, "tensors"});
  }
  Say(advice_, finding);
}

}  // namespace nanwatch
