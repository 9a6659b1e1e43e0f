#include "detect/clipped_before_unscaling.h"

#include <cmath>
#include <utility>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kEqual = 1e-3;  // a share; fp16 gradients round the norm; ours
// A scale; below, a norm may be many things; ours.
constexpr double kLeastScale = 8;
constexpr double kLeastLimit = 1e-3;  // a norm; ours
constexpr double kMostLimit = 100;    // a norm; ours
// A share: what has so few digits, in a double; ours.
constexpr double kPrinted = 1e-6;

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 16, 4, 100000, "updates", "ours"},
};

// So many digits say it, as a person would write a limit.
bool IsRound(double value, int digits, double tolerance) {
  const double unit =
      std::pow(10, std::floor(std::log10(value)) - (digits - 1));
  const double units = value / unit;
  return std::abs(units - std::round(units)) <= tolerance * units;
}

}  // namespace

constinit const RuleSpec ClippedBeforeUnscaling::kSpec = {
    RuleId::kClippedBeforeUnscaling,
    "clipped_before_unscaling",
    Family::kScale,
    "Gradients are clipped while they are multiplied by the loss scale.",
    "The gradient norm times the loss scale (8 at least) is the same number, "
    "to a thousandth, in hold updates in a row, and the scale moved meanwhile "
    "or that number is one of two digits between 0.001 and 100 and the norm "
    "none of three; or the client saw in hold updates in a row that a limit "
    "cut gradients that were not unscaled yet.",
    "Norm times scale is another number hold times.",
    kThresholds};

bool ClippedBeforeUnscaling::IsLimit(double norm) const {
  if (moved_) return true;
  return limit_ >= kLeastLimit && limit_ <= kMostLimit &&
         IsRound(limit_, 2, kEqual) && !IsRound(norm, 3, kPrinted);
}

Severity ClippedBeforeUnscaling::OnSeen(const StepContext& c, bool seen,
                                        Thresholds t) {
  seen_ = seen ? seen_ + 1 : 0;
  if (seen_ == 1) since_ = c.record.step;
  const bool holds = seen_ >= t[kHold];
  if (holds) told_ = seen_;
  return episode_.OnSince(since_, holds ? Severity::kWarning : Severity::kNone,
                          !seen, c.record.step, t[kHold]);
}

Severity ClippedBeforeUnscaling::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  const bool seen =
      r.update != nullptr && r.update->fault == UpdateFault::kClippedScaled;
  if (seen || seen_ > 0) return OnSeen(c, seen, t);
  if (!r.has(StepField::kGradNorm) || !r.has(StepField::kLossScale)) {
    return episode_.severity();
  }
  const double norm = r[StepField::kGradNorm];
  const double scale = r[StepField::kLossScale];
  if (!(norm > 0 && scale >= kLeastScale && std::isfinite(norm * scale))) {
    return episode_.severity();
  }
  const bool same = std::abs(norm * scale - limit_) <= kEqual * limit_;
  const double before = std::exchange(scale_, scale);
  if (same) {
    ++same_;
    moved_ |= scale != before;
  } else {
    limit_ = norm * scale;
    since_ = r.step;
    same_ = 1;
    moved_ = false;
  }
  const bool clipped = same_ >= t[kHold] && IsLimit(norm);
  if (clipped) told_ = 0;
  return episode_.OnSince(since_,
                          clipped ? Severity::kWarning : Severity::kNone, !same,
                          r.step, t[kHold]);
}

void ClippedBeforeUnscaling::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (told_ > 0) {
    finding->sentence = Sentence(
        "Gradients are clipped before they are unscaled, in ", told_,
        " records in a row: the limit holds for gradients times the loss "
        "scale, and every update is cut to the limit divided by the scale.");
    finding->numbers = {{"attempts", static_cast<double>(told_), "updates"}};
    return;
  }
  finding->sentence = Sentence(
      "The gradient norm times the loss scale is ", limit_, " in ", same_,
      " records in a row: gradients are clipped before they are unscaled, and "
      "every update is cut to ",
      limit_, " divided by the scale.");
  finding->numbers = {{"limit", limit_, ""},
                      {"scale", scale_, ""},
                      {"attempts", static_cast<double>(same_), "updates"}};
}

}  // namespace nanwatch
