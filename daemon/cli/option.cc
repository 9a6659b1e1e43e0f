#include "cli/option.h"

namespace nanwatch {

std::vector<Option> Joined(std::vector<Option> first,
                           const std::vector<Option>& second,
                           const std::vector<Option>& third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

}  // namespace nanwatch
