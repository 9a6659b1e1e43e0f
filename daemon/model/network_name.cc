#include "model/network_name.h"

#include <algorithm>

namespace nanwatch {

bool IsNetworkName(std::string_view name) {
  return !name.empty() && name.size() <= kNetworkNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') ||
                  kNetworkNameMarks.find(c) != std::string_view::npos;
         });
}

}  // namespace nanwatch
