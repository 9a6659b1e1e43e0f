// Statuses of ops of one rank, read from its stored batches.

#ifndef NANWATCH_HISTORY_OP_ROWS_H_
#define NANWATCH_HISTORY_OP_ROWS_H_

#include <cstdint>
#include <vector>

#include "history/database.h"
#include "history/reader.h"

namespace nanwatch {

// The newest `query.rows` statuses of steps [from, to], in the order they came.
// `run` is the row of query.run. Adds damaged blobs to `*damaged`.
Result<OpRows> ReadOpRows(Database& database, int64_t run, const OpQuery& query,
                          uint64_t* damaged);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_OP_ROWS_H_
