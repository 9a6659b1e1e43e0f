#include "cli/child_environment.h"

#include <unistd.h>

#include <string_view>

namespace nanwatch {
namespace {

bool IsSet(const std::string& variable, std::string_view name) {
  return variable.size() > name.size() && variable.starts_with(name) &&
         variable[name.size()] == '=';
}

}  // namespace

std::vector<std::string> EnvironmentWith(const Variables& variables) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    bool kept = true;
    for (const auto& [name, value] : variables) kept &= !IsSet(*each, name);
    if (kept) all.emplace_back(*each);
  }
  for (const auto& [name, value] : variables) {
    all.push_back(name + "=" + value);
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace nanwatch
