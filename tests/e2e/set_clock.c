// Preloaded into a program: its wall clock, and only that, is off by so many
// microseconds as the file $NANWATCH_TEST_CLOCK holds (8 bytes, of this host),
// which a test may change at any time.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int (*ClockGettime)(clockid_t, struct timespec*);

static ClockGettime real;
static const volatile int64_t* offset_us;

__attribute__((constructor)) static void Begin(void) {
  real = (ClockGettime)dlsym(RTLD_NEXT, "clock_gettime");
  const char* path = getenv("NANWATCH_TEST_CLOCK");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* at = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (at != MAP_FAILED) offset_us = at;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (real == NULL) Begin();
  const int failed = real(clock, time);
  if (failed != 0 || clock != CLOCK_REALTIME || offset_us == NULL) {
    return failed;
  }
  const int64_t us = *offset_us + time->tv_nsec / 1000;
  time->tv_sec += us / 1000000;
  time->tv_nsec = us % 1000000 * 1000;
  if (time->tv_nsec < 0) {
    time->tv_nsec += 1000000000;
    --time->tv_sec;
  }
  return 0;
}

// OpenSSL asks here whether a certificate is over.
time_t time(time_t* to) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
