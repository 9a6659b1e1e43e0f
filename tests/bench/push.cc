// push: what nanwatch_push_step costs the training thread while the sender is
// connected, at 10,000 steps/s. The clock's own cost is measured and taken off.

#include <nanwatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace {

int64_t Now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int64_t Quantile(std::vector<int64_t>* values, double q) {
  const auto at = values->begin() +
                  static_cast<int64_t>(q * static_cast<double>(values->size()));
  std::nth_element(values->begin(), at, values->end());
  return *at;
}

void Push(nanwatch_session* session, int64_t i) {
  nanwatch_step step;
  nanwatch_step_init(&step, i);
  step.loss = 2.0;
  step.loss_scale = 65536;
  step.grad_norm = 1.0;
  step.learning_rate = 1e-3;
  step.present = NANWATCH_STEP_LOSS | NANWATCH_STEP_LOSS_SCALE |
                 NANWATCH_STEP_GRAD_NORM | NANWATCH_STEP_LEARNING_RATE |
                 NANWATCH_STEP_OVERFLOW;
  nanwatch_push_step(session, &step);
}

}  // namespace

int main(int argc, char** argv) {
  std::string address;
  CLI::App app("Times pushes.");
  app.add_option("--address", address)->required();
  CLI11_PARSE(app, argc, argv);
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.address = address.c_str();
  options.run_id = "push";
  nanwatch_session* session = nanwatch_open(&options);
  Push(session, 0);
  if (nanwatch_flush(session, 5000) == 0) return 1;

  constexpr int kPushes = 50000;
  constexpr int64_t kEvery = 100000;  // ns
  std::vector<int64_t> clock_cost;
  std::vector<int64_t> cost;
  cost.reserve(kPushes);
  for (int i = 0; i < 10000; ++i) {
    const int64_t a = Now();
    clock_cost.push_back(Now() - a);
  }
  const int64_t clock_ns = Quantile(&clock_cost, 0.5);
  int64_t next = Now();
  for (int i = 1; i <= kPushes; ++i) {
    while (Now() < next) {
    }
    next += kEvery;
    const int64_t a = Now();
    Push(session, i);
    cost.push_back(std::max<int64_t>(0, Now() - a - clock_ns));
  }
  nanwatch_close(session, 2000);
  const int64_t p50 = Quantile(&cost, 0.5);
  const int64_t p999 = Quantile(&cost, 0.999);
  std::printf("{\"p50_ns\": %lld, \"p999_ns\": %lld}\n",
              static_cast<long long>(p50), static_cast<long long>(p999));
  return 0;
}
