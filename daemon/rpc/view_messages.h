// What the snapshot shows, as messages of the query service.

#ifndef NANWATCH_RPC_VIEW_MESSAGES_H_
#define NANWATCH_RPC_VIEW_MESSAGES_H_

#include <vector>

#include "history/reader.h"
#include "model/field.h"
#include "model/snapshot.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

void WriteSummary(const RunView& from, v1::RunSummary* to);
void WriteDetail(const RunView& from, const RuleNames& rule_name,
                 v1::RunDetail* to);
void WriteIncident(const Incident& from, const RuleNames& rule_name,
                   v1::Incident* to);
void WriteBuckets(const std::vector<StepBucket>& from,
                  v1::GetStepsResponse* to);
// Of each parameter the newest of these, which come oldest first.
void WriteLayers(const std::vector<OpRow>& from, v1::GetLayersResponse* to);
void WriteLayerScales(const LayerRangesView& from, v1::GetLayersResponse* to);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_VIEW_MESSAGES_H_
