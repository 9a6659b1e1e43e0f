#include "detect/program.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string>

namespace nanwatch {
namespace {

bool Is(const RunDescription& run, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    return run.framework.find(name) != std::string::npos;
  });
}

}  // namespace

bool TellsMeans(const RunDescription& run) {
  return Is(run, {"megatron", "neox", "mindspeed"});
}

bool TrainsLanguage(const RunDescription& run) {
  return TellsMeans(run) || Is(run, {"torchtitan", "litgpt", "nanogpt"});
}

bool TrainsOnRewards(const RunDescription& run) {
  return Is(run, {"trl", "verl", "openrlhf"});
}

float UntrainedLoss(const RunDescription& run, float guessing) {
  const auto told = run.settings.find("untrained_loss");
  if (told != run.settings.end()) {
    float loss = 0;
    const std::string& text = told->second;
    std::from_chars(text.data(), text.data() + text.size(), loss);
    if (std::isfinite(loss) && loss > 0) return loss;
  }
  return TrainsLanguage(run) ? guessing : 0;
}

}  // namespace nanwatch
