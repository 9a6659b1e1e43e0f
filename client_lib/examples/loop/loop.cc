// A training loop in C++ with nanwatch: it finds the 3 in y = 3 x.
#include <cmath>
#include <nanwatch.hpp>

int main() {
  nanwatch::RunOptions options;
  options.run_id = "cpp-example";
  options.precision = "fp32";
  nanwatch::Run run(options);

  double weight = 0;
  for (int i = 0; i < 200; ++i) {
    const double x = 1 + i % 7 / 7.0;
    const double error = (weight - 3) * x;
    const double gradient = 2 * error * x;
    weight -= 0.01 * gradient;
    run.Push(nanwatch::Step(i)
                 .Loss(error * error)
                 .GradNorm(std::abs(gradient))
                 .LearningRate(0.01));
  }
  return run.Close(5000) ? 0 : 1;  // waits 5 s at most
}
