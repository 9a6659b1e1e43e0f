#include "detect/loss_impossible.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "detect/program.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int32_t kFewRecords = 12;  // that show a course; ours
constexpr float kFaster = 3;         // times, ours: t^2 is 2.5, t^3 4.3
constexpr float kFar = 10;           // times the size of the first loss; ours
constexpr float kVeryFar = 1e3F;     // the same: no density gains that; ours
constexpr float kLeastSize = 1;      // of a first loss; ours
constexpr float kGoesOn = 1.25f;     // times the last third; ours

constexpr ThresholdSpec kThresholds[] = {
    {"below", 0.01, 0, 1e6, "nats",
     "ours: what rounding leaves; Keras's running means lose 0.003 in 50,000 "
     "batches"},
    {"hold", 3, 1, 100000, "records", "ours: one may be torn or flipped"},
    {"clear_after", 20, 1, 100000, "records", "ours"},
};

}  // namespace

constinit const RuleSpec LossImpossible::kSpec = {
    RuleId::kLossImpossible,
    "loss_impossible",
    Family::kLoss,
    "The loss is what none can be: a cross-entropy below 0, one that falls "
    "ever faster without end, or 2^64 and more from the first record on.",
    "hold losses in a row are more than `below` under 0, in a run that says "
    "that its loss is a cross-entropy: settings {\"loss\": "
    "\"cross_entropy\"}, a log whose every loss is named so "
    "(cross_entropy_loss, ce_loss, mlm_loss, lm_loss), or a program that "
    "trains language and nothing else. For information where a fresh model's "
    "first loss is what guessing costs among as many classes as its last layer "
    "has outputs. A loss of any kind that keeps a level is a note where it "
    "falls three times as fast from the middle third of its records below 0 to "
    "the last as it did before, and is ten times below the size of the first "
    "(1 at least), in `hold` of 12 records and more; a warning where it is "
    "1,000 times that size below 0. So are `hold` first losses of a run that "
    "are 2^64 and more, but in fp64.",
    "clear_after losses in a row that are not.",
    kThresholds,
    "The first loss alone may be chance: losses of densities begin anywhere, "
    "and are below 0 in health. So are losses of rewards, of preferences and "
    "of adversaries, and a sum of terms: of none of them the rule speaks, but "
    "where it falls ever faster. In health it slows down: what is best is a "
    "bound. nll and nll_loss name losses of densities, too."};

// A wrong sign, or an objective without a bound.
bool LossImpossible::RunsAway(double loss, Thresholds t) {
  const float newest = static_cast<float>(loss);
  course_.Add(newest);
  const float last = course_.last();
  // One loss that stands out is not followed by others.
  const bool runs = course_.records() >= kFewRecords &&
                    course_.Quickens() >= kFaster && newest <= kGoesOn * last &&
                    last <= -kFar * std::max(first_, kLeastSize);
  runs_ = runs ? runs_ + (runs_ < INT32_MAX) : 0;
  return runs_ >= t[kHold];
}

Severity LossImpossible::OnStep(const StepContext& c, Thresholds t) {
  const std::optional<double> loss = FiniteLoss(c.record);
  if (!loss) return episode_.severity();
  // All so far were.
  const bool huge = IsWide(c.run, *loss) && (!began_ || episode_.held() > 0);
  if (!began_) {
    began_ = true;
    first_ = std::fabs(static_cast<float>(*loss));
    const bool fresh = c.loss_before == nullptr && !NamesLoss(c.run);
    guess_ = fresh ? LossOfClasses(c.run, static_cast<float>(*loss)) : 0;
  }
  // Losses that keep no level grow with what they follow.
  const bool runs = RunsAway(*loss, t) && c.level == LevelKind::kKept;
  const bool named = IsCrossEntropy(c.run);
  const bool endless =
      runs && *loss <= -kVeryFar * std::max(first_, kLeastSize);
  const Severity severity = huge || named || endless ? Severity::kWarning
                            : guess_ > 0 || runs     ? Severity::kInfo
                                                     : Severity::kNone;
  // What ran away and comes to rest is a loss that may be below 0.
  const bool rests = episode_.open() && severity == Severity::kNone;
  const bool low = huge || (*loss < -t[kBelow] && !rests);
  if (low) {
    loss_ = *loss;
    about_ = huge             ? About::kHuge
             : runs && !named ? About::kRunsAway
                              : About::kBelow;
  }
  return episode_.OnRecord(low, t[kHold], severity, c.record.step, t[kClear]);
}

void LossImpossible::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->SayBoth([&](Tense tense) {
    const std::string said =
        Sentence("The loss ", In(tense, "is ", "was "), loss_);
    switch (about_) {
      case About::kHuge:
        return said +
               ", and was so large from the first record on: the learning rate "
               "is far too high, or the inputs are not scaled.";
      case About::kRunsAway:
        return Sentence("The loss ", In(tense, "falls", "fell"),
                        " ever faster, far below 0: it ",
                        In(tense, "is ", "was "), loss_,
                        ". So does one with the wrong sign, or without a "
                        "bound.");
      case About::kBelow:
        break;
    }
    return guess_ > 0
               ? said + Sentence(
                            ". It began near ", guess_,
                            ", as a cross-entropy among as many classes as the "
                            "last layer has outputs does. A cross-entropy is "
                            "never below 0; another loss may be.")
               : said + ", and a cross-entropy is never below 0.";
  });
  finding->numbers = {{"loss", loss_, ""}};
}

}  // namespace nanwatch
