// feed: a training that only counts. Pushes a known number of steps of a
// healthy run through the real client at a given rate, waits until all are
// acknowledged, and prints what became of them as one JSON object.

#include <nanwatch.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace {

int64_t NowNanos() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

void SleepUntil(int64_t nanos) {
  timespec t;
  t.tv_sec = nanos / 1000000000;
  t.tv_nsec = nanos % 1000000000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

struct Options {
  std::string address;
  std::string run = "feed";
  std::string job = "feed";
  int64_t steps = 1000;
  int ranks = 1;
  double rate = 1000;  // steps a second and rank; 0: as fast as it goes
  int flush_ms = 30000;
  int64_t overflow_every = 0;  // 0: never
  int64_t nan_loss_at = -1;
  int64_t skew_s = 0;  // the clock of this client is off by so much
};

nanwatch_session* Open(const Options& o, int rank) {
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.address = o.address.empty() ? nullptr : o.address.c_str();
  options.job = o.job.c_str();
  options.run_id = o.run.c_str();
  options.rank = rank;
  options.world_size = o.ranks;
  options.present = NANWATCH_RUN_RANK | NANWATCH_RUN_WORLD_SIZE;
  options.framework = "pytorch";
  options.precision = "fp16";
  options.overflow_mode = NANWATCH_OVERFLOW_MODE_INF_NAN;
  options.scaler.kind = NANWATCH_SCALING_DYNAMIC;
  options.scaler.name = "pytorch";
  return nanwatch_open(&options);
}

void Push(const Options& o, nanwatch_session* session, int64_t i, int64_t us) {
  nanwatch_step step;
  nanwatch_step_init(&step, i);
  step.time_us = us + o.skew_s * 1000000;
  const bool overflow = o.overflow_every > 0 && i % o.overflow_every == 1;
  step.loss = 2.0 + 2.0 * std::exp(-1e-3 * static_cast<double>(i));
  if (i == o.nan_loss_at) step.loss = NAN;
  step.loss_scale = 1024;
  step.grad_norm = 1.0 + 0.01 * static_cast<double>(i % 7);
  step.learning_rate = 1e-3;
  step.overflow = overflow;
  step.skipped = overflow;
  step.present = NANWATCH_STEP_LOSS | NANWATCH_STEP_LOSS_SCALE |
                 NANWATCH_STEP_GRAD_NORM | NANWATCH_STEP_LEARNING_RATE |
                 NANWATCH_STEP_OVERFLOW | NANWATCH_STEP_SKIPPED;
  nanwatch_push_step(session, &step);
}

int64_t UnixMicros() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

int Feed(const Options& o) {
  std::vector<nanwatch_session*> sessions;
  for (int rank = 0; rank < o.ranks; ++rank) sessions.push_back(Open(o, rank));
  const int64_t begun = NowNanos();
  for (int64_t i = 0; i < o.steps; ++i) {
    if (o.rate > 0) {
      SleepUntil(begun +
                 static_cast<int64_t>(1e9 / o.rate * static_cast<double>(i)));
    }
    const int64_t us = UnixMicros();
    for (nanwatch_session* session : sessions) Push(o, session, i, us);
  }
  uint64_t pushed = 0;
  uint64_t acked = 0;
  uint64_t dropped = 0;
  uint64_t reconnects = 0;
  bool flushed = true;
  for (nanwatch_session* session : sessions) {
    flushed = nanwatch_flush(session, o.flush_ms) != 0 && flushed;
    nanwatch_stats stats;
    nanwatch_stats_init(&stats);
    nanwatch_get_stats(session, &stats);
    pushed += stats.pushed;
    acked += stats.acked;
    dropped += stats.dropped;
    reconnects += stats.reconnects;
    nanwatch_close(session, 2000);
  }
  std::printf(
      "{\"pushed\": %llu, \"acked\": %llu, \"dropped\": %llu, "
      "\"reconnects\": %llu, \"flushed\": %s}\n",
      static_cast<unsigned long long>(pushed),
      static_cast<unsigned long long>(acked),
      static_cast<unsigned long long>(dropped),
      static_cast<unsigned long long>(reconnects), flushed ? "true" : "false");
  return flushed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Pushes a known number of steps through the real client.");
  app.add_option("--address", o.address);
  app.add_option("--run", o.run);
  app.add_option("--job", o.job);
  app.add_option("--steps", o.steps);
  app.add_option("--ranks", o.ranks);
  app.add_option("--rate", o.rate);
  app.add_option("--flush-ms", o.flush_ms);
  app.add_option("--overflow-every", o.overflow_every);
  app.add_option("--nan-loss-at", o.nan_loss_at);
  app.add_option("--skew-s", o.skew_s);
  CLI11_PARSE(app, argc, argv);
  return Feed(o);
}
