// RankPlace: where a finding's rank runs.

#ifndef NANWATCH_ALERT_RANK_PLACE_H_
#define NANWATCH_ALERT_RANK_PLACE_H_

#include <string>

#include "model/pod.h"

namespace nanwatch {

// Strings are empty where it is not known.
struct RankPlace {
  std::string host;
  std::string device;
  Pod pod;
};

// Returns "gpu7, NVIDIA H100 2", or "NVIDIA H100 2, pod team-a/train-3 on node
// gpu7", as far as it is known: a pod's host is the pod.
std::string Text(const RankPlace& place);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_RANK_PLACE_H_
