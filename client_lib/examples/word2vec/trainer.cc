#include "trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <thread>

namespace word2vec {
namespace {

// 1,000 and 6 are no multiples of 16, so FRACTAL_NZ pads both.
constexpr Extent kExtent{.pairs = 1000, .targets = 6, .dim = 64};
constexpr double kLearningRate = 0.2;
constexpr int kLossWindow = 100;

double FiniteMean(const std::deque<double>& values) {
  double sum = 0;
  int n = 0;
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    ++n;
  }
  return n > 0 ? sum / n : std::nan("");
}

}  // namespace

Trainer::Trainer(const Options& options, const Vocabulary& vocabulary,
                 Watch* watch)
    : options_(options),
      scenario_(options.scenario),
      watch_(watch),
      device_(scenario_.mode, watch),
      sampler_(vocabulary, kExtent, options.seed),
      model_(vocabulary.size(), kExtent, scenario_.padded, options.seed + 1),
      scaler_(MakeScaler(scenario_.scaler)) {}

StepOutcome Trainer::Update(int64_t step, Batch* batch) {
  StepOutcome outcome;
  outcome.step = step;
  outcome.scale = scaler_->scale();
  outcome.learning_rate = kLearningRate;
  outcome.samples = (step + 1) * static_cast<int64_t>(kExtent.pairs);
  // A broken record of the input: a distance that no text has.
  if (step == scenario_.poisoned_step) batch->distance.data[0] = Half{-1};
  watch_->BeginStep(step);
  outcome.loss = static_cast<double>(model_.Forward(*batch, &device_));
  model_.Backward(static_cast<float>(outcome.scale), &device_);
  outcome.gradient_norm =
      model_.CollectGradient(*batch, outcome.scale, scenario_.mode);
  if (scenario_.mode == OverflowMode::kSaturation) {
    outcome.overflow = device_.float_status().overflow();
    outcome.float_status = device_.float_status().words();
  } else {
    outcome.overflow = model_.GradientNonFinite();
  }
  device_.float_status().Clear();
  outcome.applied = scaler_->Update(outcome.overflow);
  if (outcome.applied) {
    model_.Apply(static_cast<float>(kLearningRate));
  } else {
    model_.Discard();
  }
  watch_->EndStep(outcome);
  return outcome;
}

TrainingOutcome Trainer::Run() {
  using Clock = std::chrono::steady_clock;
  TrainingOutcome outcome;
  std::deque<double> first, last;
  Clock::time_point next_line = Clock::now();
  for (int64_t step = 0; step < scenario_.steps; ++step) {
    const StepOutcome s = Update(step, &sampler_.Next());
    ++outcome.steps;
    outcome.applied += s.applied;
    outcome.overflows += s.overflow;
    if (first.size() < kLossWindow) first.push_back(s.loss);
    last.push_back(s.loss);
    if (last.size() > kLossWindow) last.pop_front();
    if (!options_.quiet && Clock::now() >= next_line) {
      next_line = Clock::now() + std::chrono::seconds(1);
      Progress(s, outcome);
    }
    if ((outcome.stop_reason = watch_->StopReason())) break;
    if (options_.step_delay_ms > 0) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(options_.step_delay_ms));
    }
  }
  outcome.first_loss = FiniteMean(first);
  outcome.last_loss = FiniteMean(last);
  outcome.scale = scaler_->scale();
  return outcome;
}

void Trainer::Progress(const StepOutcome& step, const TrainingOutcome& so_far) {
  std::printf(
      "step %6lld  loss %.3f  loss scale %-11.6g  %s, %lld of %lld "
      "updates applied\n",
      static_cast<long long>(step.step), step.loss, step.scale,
      step.overflow ? "overflow" : "finite  ",
      static_cast<long long>(so_far.applied),
      static_cast<long long>(so_far.steps));
  std::fflush(stdout);
}

}  // namespace word2vec
