// What a run and a rank say of themselves: protobuf <-> model.

#ifndef NANWATCH_WIRE_RUN_CODEC_H_
#define NANWATCH_WIRE_RUN_CODEC_H_

#include "model/rank.h"
#include "model/records_ended.h"
#include "model/run.h"
#include "nanwatch/v1/ingest.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

// Without run_id and attempt. Enum values that only newer versions know are
// read as unknown.
Verdict ReadRun(const v1::RunInfo& from, RunDescription* to);
// `world_size` is the run's.
Verdict ReadRank(const v1::RankInfo& from, int32_t world_size,
                 RankDescription* to);

Verdict ReadProgramEnd(const v1::ProgramEnd& from, ProgramEnd* to);

void WriteRun(const RunDescription& from, v1::RunInfo* to);
void WriteRank(const RankDescription& from, v1::RankInfo* to);
void WritePod(const Pod& from, v1::Pod* to);
void WriteProgramEnd(const ProgramEnd& from, v1::ProgramEnd* to);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_RUN_CODEC_H_
