// How bad runs were that only the history knows.

#ifndef NANWATCH_HISTORY_WORST_SENT_H_
#define NANWATCH_HISTORY_WORST_SENT_H_

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "history/reader.h"
#include "model/run.h"
#include "model/severity.h"

namespace nanwatch {

// The worst that any incident of a run ever was; a run without one is missing.
inline Result<std::map<RunKey, Severity>> WorstSent(HistoryReader& reader) {
  const Result<std::vector<std::pair<RunKey, Incident>>> sent = reader.Sent();
  if (!sent) return Error{sent.error()};
  std::map<RunKey, Severity> worst;
  for (const auto& [run, incident] : *sent) {
    Severity& so_far = worst[run];
    so_far = std::max(so_far, incident.worst);
  }
  return worst;
}

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_WORST_SENT_H_
