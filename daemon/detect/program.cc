#include "detect/program.h"

#include <algorithm>
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

}  // namespace nanwatch
