#include <cstdio>
#include <nanwatch.hpp>

int main() {
  nanwatch::RunOptions options;
  options.job = "stranger";
  nanwatch::Run run(options);
  run.Push(nanwatch::Step(1).Loss(0.5));
  run.Close(100);
  return std::puts(nanwatch_version()) < 0;
}
