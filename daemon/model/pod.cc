#include "model/pod.h"

namespace nanwatch {

std::string Text(const Pod& pod) {
  std::string text;
  if (!pod.name.empty()) {
    text = "pod " + pod.name_space + (pod.name_space.empty() ? "" : "/") +
           pod.name;
  }
  if (pod.node.empty()) return text;
  return text + (text.empty() ? "" : " on ") + "node " + pod.node;
}

}  // namespace nanwatch
