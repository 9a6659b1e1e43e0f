// Messages as a client sends them.

#ifndef NANWATCH_TESTS_UNIT_WIRE_BATCH_BUILDER_H_
#define NANWATCH_TESTS_UNIT_WIRE_BATCH_BUILDER_H_

#include <cstdint>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch {

inline constexpr uint64_t kSession = 0xabc;
inline constexpr int64_t kNowUs = 1'700'000'000'000'000;

inline v1::IngestRequest OpenRequest() {
  v1::IngestRequest request;
  v1::OpenSession* open = request.mutable_open();
  open->set_session(kSession);
  open->mutable_run()->set_run_id("job-7");
  open->mutable_run()->set_world_size(4);
  open->mutable_rank()->set_rank(1);
  open->set_client_time_us(kNowUs);
  return request;
}

// `rows` steps 1, 2, ... a second apart, with time only.
inline v1::IngestRequest StepsRequest(int rows, uint64_t sequence = 1) {
  v1::IngestRequest request;
  v1::StepBatch* steps = request.mutable_steps();
  steps->set_session(kSession);
  steps->set_sequence(sequence);
  steps->set_sent_time_us(kNowUs);
  for (int row = 0; row < rows; ++row) {
    steps->add_step_deltas(1);
    steps->add_time_us_deltas(row == 0 ? kNowUs : 1'000'000);
  }
  return request;
}

// Ops first, first + 1, ... of 4 x `width` elements.
inline v1::IngestRequest NamesRequest(uint32_t first, int n,
                                      int64_t width = 256,
                                      uint64_t sequence = 1) {
  v1::IngestRequest request;
  v1::OpNames* names = request.mutable_op_names();
  names->set_session(kSession);
  names->set_sequence(sequence);
  names->set_first_index(first);
  for (int i = 0; i < n; ++i) {
    v1::OpName* op = names->add_ops();
    op->set_name("op" + std::to_string(first + i));
    op->add_logical_shape(4);
    op->add_logical_shape(width);
  }
  return request;
}

// One step's outputs of ops 0 .. rows - 1, without statistics.
inline v1::IngestRequest OpsRequest(int rows, uint64_t sequence = 2) {
  v1::IngestRequest request;
  v1::OpBatch* ops = request.mutable_ops();
  ops->set_session(kSession);
  ops->set_sequence(sequence);
  ops->set_sent_time_us(kNowUs);
  ops->add_step_rows(rows);
  ops->add_step_deltas(17);
  ops->add_time_us_deltas(kNowUs);
  for (int row = 0; row < rows; ++row) ops->add_op_deltas(row == 0 ? 0 : 1);
  ops->add_slots(v1::SLOT_OUTPUT);
  return request;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_WIRE_BATCH_BUILDER_H_
