// JudgeDump: what another tool dumped of a run, judged alone: each tensor is
// the status of an op, in the order in which they were made.

#ifndef NANWATCH_APP_DUMP_JUDGE_H_
#define NANWATCH_APP_DUMP_JUDGE_H_

#include <string>

#include "app/record_judge.h"
#include "compare/compared_run.h"
#include "model/rule.h"

namespace nanwatch {

// `rules`: empty: the defaults.
RecordVerdict JudgeDump(const ComparedRun& run, const std::string& run_id,
                        const RulesInForce& rules);

}  // namespace nanwatch

#endif  // NANWATCH_APP_DUMP_JUDGE_H_
