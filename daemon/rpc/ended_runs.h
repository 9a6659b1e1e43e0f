// Runs that only history still knows, for a list.

#ifndef NANWATCH_RPC_ENDED_RUNS_H_
#define NANWATCH_RPC_ENDED_RUNS_H_

#include "base/result.h"
#include "history/reader.h"
#include "model/snapshot.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

inline constexpr int kEndedRunsListed = 200;

// The newest that are not in `snapshot`, newest first, as short summaries: how
// bad they were is taken from their incidents.
Status AppendEndedRuns(HistoryReader& reader, const Snapshot& snapshot,
                       v1::ListRunsResponse* response);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_ENDED_RUNS_H_
