/* nanwatch.h compiled and used as C. */

#include <nanwatch.h>
#include <nanwatch_sketch.h>

int UseNanwatchFromC(void);

int UseNanwatchFromC(void) {
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.address = "/nowhere/nanwatch.sock";
  options.run_id = "from-c";
  nanwatch_session* session = nanwatch_open(&options);

  nanwatch_op op;
  nanwatch_op_init(&op, "loss/Log");
  op.dtype = NANWATCH_FP16;
  const int32_t log_op = nanwatch_op_register(session, &op);

  const float data[4] = {1, 2, 3, 4};
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, 1, log_op, NANWATCH_SLOT_OUTPUT);
  const int observed =
      nanwatch_observe(data, 4, NANWATCH_FP32, NANWATCH_OBSERVE_ALL, &status);
  float sums[NANWATCH_SKETCH_SUMS];
  nanwatch_sketch sketch;
  nanwatch_sketch_init(&sketch);
  nanwatch_sketch_add(&sketch, data, 4, NANWATCH_FP32,
                      NANWATCH_OBSERVE_DIGEST | NANWATCH_OBSERVE_SKETCH, 0);
  nanwatch_sketch_floats(&sketch, sums);
  status.sketch = sums;
  nanwatch_push_op(session, &status);

  nanwatch_step step;
  nanwatch_step_init(&step, 1);
  step.loss = 0.5;
  step.present |= NANWATCH_STEP_LOSS;
  nanwatch_push_step(session, &step);

  nanwatch_request request;
  nanwatch_request_init(&request);
  const int polled = nanwatch_poll(session, &request);
  nanwatch_stats stats;
  nanwatch_stats_init(&stats);
  nanwatch_get_stats(session, &stats);
  nanwatch_close(session, 100);
  return log_op == 0 && observed == 1 && polled == 0 && stats.pushed == 2;
}
