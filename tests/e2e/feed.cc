// feed: a training that only counts. Pushes a known number of steps of a
// healthy run through the real client at a given rate, waits until all are
// acknowledged, and prints what became of them as one JSON object. With --ops
// each step comes with the statuses of the first and the last op.

#include <nanwatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
  int first_rank = 0;
  int world = 0;  // 0: as many as `ranks`
  double scale = 1024;
  int64_t back_at = -1;  // steps begin again from half of it, once
  double rate = 1000;    // steps a second and rank; 0: as fast as it goes
  // Waits while so many records of a rank are on their way, so that the ring
  // drops nothing however slow the daemon is; 0: never waits.
  uint64_t in_flight = 0;
  int flush_ms = 30000;
  int64_t overflow_every = 0;  // 0: never
  int64_t nan_loss_at = -1;
  int64_t skew_s = 0;     // the clock of this client is off by so much
  size_t ring_bytes = 0;  // 0: the client's default
  int close_ms = 2000;
  int ops = 0;
  size_t op_name_bytes = 16;
  bool noisy = false;  // numbers that do not compress
};

struct Rank {
  nanwatch_session* session;
  int32_t first_op;
  int32_t last_op;
};

void RegisterOps(const Options& o, Rank* rank) {
  rank->first_op = rank->last_op = -1;
  for (int i = 0; i < o.ops; ++i) {
    std::string name = o.run + "/op" + std::to_string(i);
    name.resize(std::max(name.size(), o.op_name_bytes), '-');
    nanwatch_op op;
    nanwatch_op_init(&op, name.c_str());
    rank->last_op = nanwatch_op_register(rank->session, &op);
    if (i == 0) rank->first_op = rank->last_op;
  }
}

void PushOps(const Rank& rank, int64_t step) {
  for (const int32_t op : {rank.first_op, rank.last_op}) {
    if (op < 0) continue;
    nanwatch_op_status status;
    nanwatch_op_status_init(&status, step, op, NANWATCH_SLOT_OUTPUT);
    status.elements = 16;
    status.present = NANWATCH_OP_ELEMENTS;
    nanwatch_push_op(rank.session, &status);
  }
}

nanwatch_session* Open(const Options& o, int rank) {
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.address = o.address.empty() ? nullptr : o.address.c_str();
  options.job = o.job.c_str();
  options.run_id = o.run.c_str();
  options.rank = rank;
  options.world_size = o.world == 0 ? o.ranks : o.world;
  options.present = NANWATCH_RUN_RANK | NANWATCH_RUN_WORLD_SIZE;
  options.framework = "pytorch";
  options.precision = "fp16";
  options.overflow_mode = NANWATCH_OVERFLOW_MODE_INF_NAN;
  options.scaler.kind = NANWATCH_SCALING_DYNAMIC;
  options.scaler.name = "pytorch";
  options.ring_bytes = o.ring_bytes;
  return nanwatch_open(&options);
}

// 0.99 .. 1.01, with noise in every digit; the same for the same `i`.
double Noise(int64_t i) {
  uint64_t x = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return 0.99 + 0.02 * static_cast<double>(x >> 11) / 9007199254740992.0;
}

void Push(const Options& o, nanwatch_session* session, int64_t i, int64_t us) {
  nanwatch_step step;
  nanwatch_step_init(&step, i);
  step.time_us = us + o.skew_s * 1000000;
  const bool overflow = o.overflow_every > 0 && i % o.overflow_every == 1;
  step.loss = 2.0 + 2.0 * std::exp(-1e-3 * static_cast<double>(i));
  if (i == o.nan_loss_at) step.loss = NAN;
  step.loss_scale = o.scale;
  step.grad_norm = 1.0 + 0.01 * static_cast<double>(i % 7);
  step.learning_rate = 1e-3;
  if (o.noisy) {
    step.loss *= Noise(3 * i);
    step.grad_norm *= Noise(3 * i + 1);
    step.learning_rate *= Noise(3 * i + 2);
  }
  step.overflow = overflow;
  step.skipped = overflow;
  step.present = NANWATCH_STEP_LOSS | NANWATCH_STEP_LOSS_SCALE |
                 NANWATCH_STEP_GRAD_NORM | NANWATCH_STEP_LEARNING_RATE |
                 NANWATCH_STEP_OVERFLOW | NANWATCH_STEP_SKIPPED;
  nanwatch_push_step(session, &step);
}

void WaitForRoom(const Options& o, nanwatch_session* session) {
  constexpr int64_t kPollNanos = 1000000;
  nanwatch_stats stats;
  nanwatch_stats_init(&stats);
  for (;;) {
    nanwatch_get_stats(session, &stats);
    if (stats.pushed - stats.acked - stats.dropped < o.in_flight) return;
    SleepUntil(NowNanos() + kPollNanos);
  }
}

int64_t UnixMicros() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

// What became of all records, over all ranks.
struct Outcome {
  uint64_t pushed = 0;
  uint64_t acked = 0;
  uint64_t not_durable = 0;
  uint64_t dropped = 0;
  uint64_t reconnects = 0;
  bool flushed = true;
  int64_t slowest_push_ns = 0;
  int64_t slowest_close_ns = 0;
  std::string error;  // of the last rank that has one
};

void Settle(const Options& o, nanwatch_session* session, Outcome* outcome) {
  if (nanwatch_flush(session, o.flush_ms) == 0) outcome->flushed = false;
  nanwatch_stats stats;
  nanwatch_stats_init(&stats);
  nanwatch_get_stats(session, &stats);
  outcome->pushed += stats.pushed;
  outcome->acked += stats.acked;
  outcome->not_durable += stats.not_durable;
  outcome->dropped += stats.dropped;
  outcome->reconnects += stats.reconnects;
  if (stats.error[0] != 0) outcome->error = stats.error;
  const int64_t begun = NowNanos();
  nanwatch_close(session, o.close_ms);
  outcome->slowest_close_ns =
      std::max(outcome->slowest_close_ns, NowNanos() - begun);
}

std::string InJson(std::string text) {
  for (char& c : text) {
    if (c == '"' || c == '\\') c = '\'';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

void Print(const Outcome& outcome) {
  std::printf(
      "{\"pushed\": %llu, \"acked\": %llu, \"not_durable\": %llu, "
      "\"dropped\": %llu, \"reconnects\": %llu, \"flushed\": %s, "
      "\"slowest_push_us\": %lld, "
      "\"slowest_close_ms\": %lld, \"error\": \"%s\"}\n",
      static_cast<unsigned long long>(outcome.pushed),
      static_cast<unsigned long long>(outcome.acked),
      static_cast<unsigned long long>(outcome.not_durable),
      static_cast<unsigned long long>(outcome.dropped),
      static_cast<unsigned long long>(outcome.reconnects),
      outcome.flushed ? "true" : "false",
      static_cast<long long>(outcome.slowest_push_ns / 1000),
      static_cast<long long>(outcome.slowest_close_ns / 1000000),
      InJson(outcome.error).c_str());
}

int Feed(const Options& o) {
  std::vector<Rank> ranks;
  for (int rank = 0; rank < o.ranks; ++rank) {
    ranks.push_back({Open(o, o.first_rank + rank), -1, -1});
    RegisterOps(o, &ranks.back());
  }
  Outcome outcome;
  const int64_t begun = NowNanos();
  for (int64_t i = 0; i < o.steps; ++i) {
    if (o.rate > 0) {
      SleepUntil(begun +
                 static_cast<int64_t>(1e9 / o.rate * static_cast<double>(i)));
    }
    if (o.in_flight > 0) {
      for (const Rank& rank : ranks) WaitForRoom(o, rank.session);
    }
    const int64_t step =
        o.back_at < 0 || i < o.back_at ? i : i - o.back_at + o.back_at / 2;
    const int64_t us = UnixMicros();
    const int64_t before = NowNanos();
    for (const Rank& rank : ranks) {
      PushOps(rank, step);
      Push(o, rank.session, step, us);
    }
    outcome.slowest_push_ns =
        std::max(outcome.slowest_push_ns, NowNanos() - before);
  }
  for (const Rank& rank : ranks) Settle(o, rank.session, &outcome);
  Print(outcome);
  return outcome.flushed ? 0 : 1;
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
  app.add_option("--first-rank", o.first_rank);
  app.add_option("--world", o.world);
  app.add_option("--scale", o.scale);
  app.add_option("--back-at", o.back_at);
  app.add_option("--rate", o.rate);
  app.add_option("--in-flight", o.in_flight);
  app.add_option("--flush-ms", o.flush_ms);
  app.add_option("--overflow-every", o.overflow_every);
  app.add_option("--nan-loss-at", o.nan_loss_at);
  app.add_option("--skew-s", o.skew_s);
  app.add_option("--ring-bytes", o.ring_bytes);
  app.add_option("--close-ms", o.close_ms);
  app.add_option("--ops", o.ops);
  app.add_option("--op-name-bytes", o.op_name_bytes);
  app.add_flag("--noisy", o.noisy);
  CLI11_PARSE(app, argc, argv);
  return Feed(o);
}
