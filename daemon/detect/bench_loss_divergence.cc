#include "detect/bench_loss_divergence.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kMeanOver = 10;  // pairs; ours
// The shift that evidence is gathered for. Ours.
constexpr double kShift = 0.5;  // deviations
// The same of what a restart has lost, where that is more. Ours.
constexpr double kShiftOfLost = 1;  // deviations
// What a single pair can say: one outlier is no evidence. Ours.
constexpr double kMostOfAPair = 4;  // deviations
constexpr float kLittle = 1;        // nats of what is noise still; ours
constexpr float kMostNats = 1000;   // what is more says nothing; ours
// So many times what was usual is no rounding that grew. Ours.
constexpr double kJump = 8;
// Share of what matters, below which no pair speaks. Ours.
constexpr double kLeastOfIt = 0.25;
// Of what was learned, as much as weights that were not loaded lack and others
// do not: half way between both. Ours.
constexpr double kLost = 0.5;
constexpr int32_t kSoon = 32;  // pairs after a restart; ours

constexpr ThresholdSpec kThresholds[] = {
    {"nats", 13.8, 3, 100, "nats",
     "ours: healthy noise comes to it once in 10^6 pairs"},
    {"hold", 10, 2, 100000, "pairs", "msprobe: ten in a row"},
    {"same_batches", 0.001, 0, 10, "ratio",
     "ours: bf16 beside fp32 comes to 0.0006 in 2,000 steps"},
    {"offset", 0.02, 0, 10, "ratio", "verl: 2 %"},
    {"other_batches", 0.05, 0, 10, "ratio", "Megatron-LM's CI: 5 %"},
    {"critical", 0.1, 0, 10, "ratio", "ours: twice what other batches do"},
    {"critical_hold", 100, 1, 1000000, "pairs", "ours: no transition lasts it"},
    {"clear_after", 100, 1, 100000, "pairs", "msprobe"},
};

}  // namespace

constinit const RuleSpec BenchLossDivergence::kSpec = {
    RuleId::kBenchLossDivergence,
    "bench_loss_divergence",
    Family::kBenchmark,
    "The loss leaves that of the run's benchmark.",
    "At the same steps, the loss lies above that of the benchmark by more than "
    "other_batches, and the evidence that it is no noise comes to nats, over "
    "hold pairs at least. Where both runs have the same batches, as their "
    "losses tell: above or below by more than offset; or all at once apart by "
    "more than same_batches. Critical: above by critical, for critical_hold "
    "pairs.",
    "Within half of same_batches, or of other_batches, for clear_after pairs.",
    kThresholds,
    "Others compare a smoothed loss with 1 % (msprobe), 2 % (verl) or 5 % "
    "(Megatron-LM), whatever differs between the runs: that is 100 times what "
    "the same batches in another format do, and less than other batches do. A "
    "run that learns the same some steps sooner or later has not left. A "
    "restart without a benchmark is held against the attempts before it, from "
    "its first losses on: these show the noise. There only a loss above is a "
    "finding: by more than other_batches, or than half of what they had "
    "learned. A loss that is no number is loss_nonfinite's."};

void BenchLossDivergence::Side::Add(double deviations, double shift,
                                    int64_t step) {
  if (nats <= 0) *this = {.since = step};
  const double z = std::clamp(deviations, -kMostOfAPair, kMostOfAPair);
  const auto more = static_cast<float>(shift * z - shift * shift / 2);
  nats = std::clamp(nats + more, 0.0f, kMostNats);
  ++pairs;
}

bool BenchLossDivergence::Side::Speaks(Thresholds t) const {
  return nats >= t[kNats] && pairs >= t[kHold];
}

Severity BenchLossDivergence::Trigger(Thresholds t) const {
  if (far_ >= t[kCriticalHold]) return Severity::kCritical;
  const bool same = noise_.same_batches() && !earlier_;
  const bool left =
      (above_.Speaks(t) && distance_ > (same ? t[kOffset] : least_)) ||
      (below_.Speaks(t) && -distance_ > t[kOffset]) ||
      (apart_.Speaks(t) && size_ > t[kSame]);
  return left ? Severity::kWarning : Severity::kNone;
}

bool BenchLossDivergence::clean(Thresholds t) const {
  return noise_.same_batches() && !earlier_ ? size_ < t[kSame] / 2
                                            : distance_ < least_ / 2;
}

int64_t BenchLossDivergence::since() const {
  const Side* most = &above_;
  if (below_.nats > most->nats) most = &below_;
  if (apart_.nats > most->nats) most = &apart_;
  return most->since;
}

// A restart that has lost what the attempts before had learned lies as far
// above them as that is, be it little.
double BenchLossDivergence::LeastAbove(const BenchContext& c,
                                       Thresholds t) const {
  if (c.learned <= 0) return t[kOther];
  return std::min(t[kOther], kLost * c.learned);
}

// Of a restart the losses before it show the noise, and its first pairs tell
// more than all later ones: what was not loaded is soon learned anew.
double BenchLossDivergence::NoiseOf(const BenchContext& c) const {
  return noise_.known() ? std::max(noise_.deviation(), c.noise) : c.noise;
}

// Other batches may well be learned better: what lies below speaks only of the
// same ones. Rounding parts two runs little by little; what does it at once is
// another thing that they do. An attempt before may have failed, and the next
// epoch may have another order since: only what lies far above it speaks.
void BenchLossDivergence::Weigh(const BenchContext& c, double distance,
                                Thresholds t) {
  const double noise = NoiseOf(c);
  if (least_ < t[kOther]) {
    // Half of the way back speaks for neither. What is less than the noise of
    // one loss shows in many.
    const double shift = std::min(kShiftOfLost, c.learned / noise);
    above_.Add((distance - least_) / noise + shift / 2, shift, c.step);
    return;
  }
  if (!noise_.same_batches() || earlier_) {
    above_.Add((distance - t[kOther]) / noise, kShift, c.step);
    return;
  }
  above_.Add((distance - t[kOffset]) / noise, kShift, c.step);
  below_.Add((-distance - t[kOffset]) / noise, kShift, c.step);
  const double size = std::fabs(distance);
  const bool jumped =
      size > kJump * noise_.usual() && size > t[kSame] * kLeastOfIt;
  apart_.Add(jumped ? kMostOfAPair : -kMostOfAPair, kShift, c.step);
}

Severity BenchLossDivergence::OnBench(const BenchContext& c, Thresholds t) {
  earlier_ = c.earlier_attempt;
  const bool same = noise_.same_batches();
  const double distance = same ? noise_.Distance(c) : c.y - c.bench_high;
  const bool known = noise_.known() || c.noise > 0;
  least_ = LeastAbove(c, t);
  if (known) Weigh(c, distance, t);
  noise_.Add(c, std::max({above_.nats, below_.nats, apart_.nats}) < kLittle);
  const double over = std::min<double>(noise_.pairs(), kMeanOver);
  loss_ += (c.loss - loss_) / over;
  bench_loss_ += (c.bench_loss - bench_loss_) / over;
  distance_ += static_cast<float>((distance - distance_) / over);
  size_ += static_cast<float>((std::fabs(distance) - size_) / over);
  if (noise_.pairs() <= kMeanOver && c.learned > 0) {
    lost_ = static_cast<float>(distance_ / c.learned);
  }
  if (!known) return episode_.severity();
  far_ = distance_ > t[kCritical] ? std::min(far_ + 1, INT32_MAX - 1) : 0;
  if (!episode_.open()) {
    not_loaded_ = lost_ > kLost && noise_.pairs() - above_.pairs < kSoon;
  }
  const Severity said =
      episode_.OnSince(since(), Trigger(t), clean(t), c.step, t[kClear]);
  noise_.Hold(said != Severity::kNone);
  return said;
}

void BenchLossDivergence::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const bool batches = noise_.same_batches();
  const bool same = batches && !earlier_;
  const char* whose = earlier_ ? "the run's earlier attempt" : "its benchmark";
  const std::string means = Sentence(" (means of the newest steps: ", loss_,
                                     " against ", bench_loss_, ")");
  const double above = std::expm1(distance_);
  finding->SayBoth([&](Tense tense) {
    if (same) {
      return Sentence("The loss ", In(tense, "differs", "differed"),
                      " from that of its benchmark by ", size_ * 100,
                      " % a step", means,
                      ", though both train on the same batches.");
    }
    return Sentence("The loss ", In(tense, "lies ", "lay "), above * 100,
                    " % above what ", whose, " had about then", means,
                    not_loaded_
                        ? ", and was as high from the restart on as when "
                          "the run began: the weights were not loaded, or "
                          "not all of them."
                    : batches ? ", though both train on the same batches."
                              : ", more than other batches explain.");
  });
  finding->numbers = {{"loss", loss_, ""},
                      {"benchmark_loss", bench_loss_, ""},
                      {"difference", same ? size_ : above, "ratio"}};
  if (not_loaded_) finding->numbers.push_back({"lost", lost_, "ratio"});
}

}  // namespace nanwatch
