/* Run by tests/cross_build: the kernels count right on this machine too, and a
 * session without a daemon is silent and open all the same. */
#include <nanwatch.h>
#include <stdio.h>

enum { kElements = 1003 };

static int Observes(void) {
  static float values[kElements];
  for (int i = 0; i < kElements; ++i) values[i] = (float)(i - 500);
  values[7] = 1e38f * 10.0f; /* +Inf */
  values[8] = -values[7];
  values[1002] = values[7] - values[7]; /* NaN */
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, 0, 0, NANWATCH_SLOT_OUTPUT);
  return nanwatch_observe(values, kElements, NANWATCH_FP32,
                          NANWATCH_OBSERVE_COUNTS, &status) == 1 &&
         status.elements == kElements && status.nan == 1 &&
         status.pos_inf == 1 && status.neg_inf == 1 && status.zero == 1 &&
         status.abs_max == 501.0f;
}

int main(void) {
  nanwatch_session* session = nanwatch_open(NULL);
  nanwatch_step step;
  nanwatch_step_init(&step, 1);
  nanwatch_push_step(session, &step);
  nanwatch_close(session, 100);
  puts(session == NULL ? "no session" : Observes() ? "observed" : "miscounted");
  return 0;
}
