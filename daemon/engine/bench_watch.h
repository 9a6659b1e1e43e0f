// BenchWatch: the benchmark that a run's losses are held against, and what its
// rules hold. It takes no memory where there is none.

#ifndef NANWATCH_ENGINE_BENCH_WATCH_H_
#define NANWATCH_ENGINE_BENCH_WATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detect/bench_context.h"
#include "detect/rules.h"
#include "model/benchmark.h"
#include "model/step.h"

namespace nanwatch {

template <typename A>
void Fields(A& archive, Benchmark& b) {
  archive(b.reference, b.points, b.earlier_attempt);
}

class BenchWatch {
 public:
  // Null: there is none any more. Nothing that was found before counts.
  void Set(std::shared_ptr<const Benchmark> benchmark);
  bool any() const { return state_ != nullptr; }
  // Null: there is none.
  std::shared_ptr<const Benchmark> benchmark() const {
    return any() ? state_->benchmark : nullptr;
  }

  // Returns what a record of the run and its benchmark say of one step; nullopt
  // where one of them has no finite loss there. `begun`: the losses that all
  // attempts began with; 0: not known. REQUIRES: any().
  std::optional<BenchContext> Pair(const StepRecord& record, double begun);

  // REQUIRES: any().
  BenchRules& rules() { return state_->rules; }
  BenchmarkView View() const;

  template <typename A>
  friend void Fields(A& archive, BenchWatch& w) {
    bool any = w.any();
    archive(any);
    if (!any) return;
    Benchmark benchmark;
    if (w.any()) benchmark = *w.state_->benchmark;
    archive(benchmark);
    if (!w.any())
      w.Set(std::make_shared<const Benchmark>(std::move(benchmark)));
    if (!w.any()) return;
    archive(w.state_->rules, w.state_->first, w.state_->step, w.state_->used);
  }

 private:
  struct State {
    std::shared_ptr<const Benchmark> benchmark;
    BenchRules rules;
    int64_t first = 0;         // step of the first pair
    int64_t step = INT64_MIN;  // of the newest pair
    int64_t used = -1;         // index of the newest point that a pair rests on
    // --- Made from the benchmark.
    double unit = 1;              // of the inverse hyperbolic sines
    double gap = 1;               // steps from point to point
    std::vector<double> y;        // of the finite points
    std::vector<double> sums;     // of the first n points' y
    std::vector<int32_t> finite;  // how many of the first n points are finite
  };
  // The last point that is not after `step`; -1: all are.
  int64_t At(double step) const;
  double Y(double loss) const;
  // Returns the mean of the points about that one.
  double MeanAbout(int64_t point) const;
  // Returns the deviation of the points about that one from their course.
  double NoiseAbout(int64_t point) const;
  std::optional<double> LossAt(int64_t step, int64_t point) const;

  std::unique_ptr<State> state_;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_BENCH_WATCH_H_
