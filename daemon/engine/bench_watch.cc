#include "engine/bench_watch.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "engine/course_noise.h"

namespace nanwatch {
namespace {

// The unit is this share of the first losses: what lies far below is next to
// nothing, and no ratio of such losses means anything. Ours.
constexpr double kNothing = 0.05;
constexpr size_t kFirst = 16;  // losses; ours
// Points on each side that a mean is taken over. Ours.
constexpr int64_t kAbout = 10;
constexpr int64_t kNoiseAbout = 32;  // the same of noise; ours
// What was learned is a difference of two means of about 16 losses: so many
// deviations of one loss are hardly noise. Ours.
constexpr double kLeastLearned = 0.5;
// Another run may learn the same so much sooner or later: a share of the steps
// since they parted, and so many points at least. Ours: seeds of small nets.
constexpr double kSooner = 0.1;
constexpr double kSoonerPoints = 10;

double PointsUnit(const std::vector<BenchmarkPoint>& points) {
  std::vector<double> first;
  for (const BenchmarkPoint& point : points) {
    if (first.size() == kFirst) break;
    if (std::isfinite(point.loss)) first.push_back(std::fabs(point.loss));
  }
  std::sort(first.begin(), first.end());
  const double usual = first.empty() ? 0 : first[first.size() / 2];
  return usual > 0 ? 2 * kNothing * usual : 1;
}

}  // namespace

void BenchWatch::Set(std::shared_ptr<const Benchmark> benchmark) {
  state_.reset();
  if (benchmark == nullptr || benchmark->points.empty()) return;
  state_ = std::make_unique<State>();
  State& s = *state_;
  s.benchmark = std::move(benchmark);
  const std::vector<BenchmarkPoint>& points = s.benchmark->points;
  s.unit = PointsUnit(points);
  s.gap = points.size() < 2
              ? 1
              : static_cast<double>(points.back().step - points.front().step) /
                    static_cast<double>(points.size() - 1);
  s.sums = {0};
  s.finite = {0};
  for (const BenchmarkPoint& point : points) {
    const bool finite = std::isfinite(point.loss);
    if (finite) s.y.push_back(Y(point.loss));
    s.sums.push_back(s.sums.back() + (finite ? s.y.back() : 0));
    s.finite.push_back(s.finite.back() + finite);
  }
}

double BenchWatch::Y(double loss) const {
  return std::asinh(loss / state_->unit);
}

int64_t BenchWatch::At(double step) const {
  const std::vector<BenchmarkPoint>& points = state_->benchmark->points;
  const auto after =
      std::upper_bound(points.begin(), points.end(), step,
                       [](double s, const BenchmarkPoint& point) {
                         return s < static_cast<double>(point.step);
                       });
  return after - points.begin() - 1;
}

double BenchWatch::MeanAbout(int64_t point) const {
  const State& s = *state_;
  const auto size = static_cast<int64_t>(s.benchmark->points.size());
  const int64_t at = std::clamp<int64_t>(point, 0, size - 1);
  const auto from = static_cast<size_t>(std::max<int64_t>(at - kAbout, 0));
  const auto to = static_cast<size_t>(std::min(at + kAbout + 1, size));
  const int32_t finite = s.finite[to] - s.finite[from];
  return finite == 0 ? NAN : (s.sums[to] - s.sums[from]) / finite;
}

double BenchWatch::NoiseAbout(int64_t point) const {
  const State& s = *state_;
  const auto size = static_cast<int64_t>(s.benchmark->points.size());
  const auto from =
      static_cast<size_t>(std::max<int64_t>(point - kNoiseAbout, 0));
  const auto to = static_cast<size_t>(std::min(point + kNoiseAbout + 1, size));
  const auto begin = static_cast<size_t>(s.finite[from]);
  const auto end = static_cast<size_t>(s.finite[to]);
  return CourseNoise(std::span(s.y).subspan(begin, end - begin));
}

// Between two points: on the line through them, once for each stretch.
std::optional<double> BenchWatch::LossAt(int64_t step, int64_t point) const {
  const std::vector<BenchmarkPoint>& points = state_->benchmark->points;
  if (point < 0) return std::nullopt;
  const BenchmarkPoint& before = points[static_cast<size_t>(point)];
  if (before.step == step) return before.loss;
  if (static_cast<size_t>(point) + 1 == points.size()) return std::nullopt;
  const BenchmarkPoint& after = points[static_cast<size_t>(point) + 1];
  const double share = static_cast<double>(step - before.step) /
                       static_cast<double>(after.step - before.step);
  return before.loss + share * (after.loss - before.loss);
}

std::optional<BenchContext> BenchWatch::Pair(const StepRecord& record,
                                             double begun) {
  State& s = *state_;
  const auto loss = FiniteLoss(record);
  if (!loss || record.step <= s.step) return std::nullopt;
  const auto step = static_cast<double>(record.step);
  const int64_t point = At(step);
  if (point == s.used) return std::nullopt;
  const std::optional<double> bench = LossAt(record.step, point);
  if (!bench || !std::isfinite(*bench)) return std::nullopt;
  BenchContext c{.step = record.step,
                 .loss = *loss,
                 .bench_loss = *bench,
                 .y = Y(*loss),
                 .bench_y = Y(*bench),
                 .bench_mean = MeanAbout(point),
                 .bench_high = MeanAbout(point),
                 .earlier_attempt = s.benchmark->earlier_attempt};
  if (s.used < 0) s.first = record.step;
  double since = step;
  if (c.earlier_attempt) {
    since -= static_cast<double>(s.first);
    c.noise = NoiseAbout(point);
    const double learned = Y(begun) - c.bench_mean;
    if (begun > 0 && learned > kLeastLearned * c.noise) c.learned = learned;
  }
  const double sooner = std::max(kSooner * since, kSoonerPoints * s.gap);
  for (const double off : {-1.0, -0.5, 0.5, 1.0}) {
    // A mean of no number is not greater.
    const double mean = MeanAbout(At(step + off * sooner));
    if (mean > c.bench_high) c.bench_high = mean;
  }
  s.step = record.step;
  s.used = point;
  return c;
}

BenchmarkView BenchWatch::View() const {
  const State& s = *state_;
  const std::vector<BenchmarkPoint>& points = s.benchmark->points;
  const auto& rule = s.rules.get<BenchLossDivergence>();
  BenchmarkView view;
  view.reference = s.benchmark->reference;
  view.points = points.size();
  view.not_finite = points.size() - static_cast<size_t>(s.finite.back());
  view.first_step = points.front().step;
  view.last_step = points.back().step;
  view.pairs = static_cast<uint64_t>(rule.pairs());
  if (view.pairs == 0) return view;
  view.pair_step = s.step;
  view.loss = rule.loss();
  view.benchmark_loss = rule.bench_loss();
  if (rule.noise().known()) view.same_batches = rule.noise().same_batches();
  return view;
}

}  // namespace nanwatch
