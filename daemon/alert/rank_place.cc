#include "alert/rank_place.h"

namespace nanwatch {

std::string Text(const RankPlace& place) {
  const Pod& pod = place.pod;
  const bool same = place.host == pod.name || place.host == pod.node;
  std::string text;
  for (const std::string& part :
       {same ? std::string() : place.host, place.device, Text(pod)}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

}  // namespace nanwatch
