// Pod: where a rank's process runs in a cluster, as its launcher says.

#ifndef NANWATCH_MODEL_POD_H_
#define NANWATCH_MODEL_POD_H_

#include <string>

namespace nanwatch {

// Strings are empty where it is not known.
struct Pod {
  std::string name;
  std::string name_space;
  std::string node;
  bool known() const {
    return !(name.empty() && name_space.empty() && node.empty());
  }
  bool operator==(const Pod&) const = default;
};

template <typename A>
void Fields(A& a, Pod& p) {
  a.Field("name", p.name);
  a.Field("namespace", p.name_space);
  a.Field("node", p.node);
}

// Returns "pod team-a/train-3 on node gpu7", as far as it is known.
std::string Text(const Pod& pod);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_POD_H_
