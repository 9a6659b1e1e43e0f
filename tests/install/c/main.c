#include <nanwatch.h>
#include <stdio.h>

int main(void) {
  nanwatch_session* session = nanwatch_open(NULL);
  nanwatch_step step;
  nanwatch_step_init(&step, 1);
  nanwatch_push_step(session, &step);
  nanwatch_close(session, 100);
  return puts(nanwatch_version()) < 0;
}
