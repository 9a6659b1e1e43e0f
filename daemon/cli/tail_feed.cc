#include "cli/tail_feed.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/style.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;

// A log that is read from its start comes faster than the library's ring takes
// it, which has room for some 20,000 records: so often it is waited for.
constexpr int kBreatheEvery = 4096;
constexpr int kBreathMs = 100;
// Ranks wait for one another; a disk that syncs slowly must not part them.
constexpr int kTogetherMs = 2000;
// The handshake of a daemon on this machine takes a few milliseconds.
constexpr milliseconds kHandshake(500);
constexpr int kFeedCloseMs = 2000;

// StepField and the bits of nanwatch_step::present are in one order.
static_assert(1u << static_cast<int>(StepField::kLoss) == NANWATCH_STEP_LOSS);
static_assert(1u << static_cast<int>(StepField::kConsumedSamples) ==
              NANWATCH_STEP_CONSUMED_SAMPLES);

nanwatch_stats StatsOf(const nanwatch_session* session) {
  nanwatch_stats stats;
  nanwatch_stats_init(&stats);
  nanwatch_get_stats(session, &stats);
  return stats;
}

nanwatch_step StepOf(const StepRecord& record) {
  nanwatch_step step;
  nanwatch_step_init(&step, record.step);
  double* const places[] = {&step.loss,
                            &step.loss_scale,
                            &step.grad_norm,
                            &step.update_norm,
                            &step.param_norm,
                            &step.learning_rate,
                            &step.zero_fraction,
                            &step.underflow_fraction,
                            &step.consumed_samples,
                            &step.applied_grad_norm};
  static_assert(std::size(places) == kStepFields);
  for (int f = 0; f < kStepFields; ++f) {
    *places[f] = record.value[static_cast<size_t>(f)];
  }
  // Bits of fields are the same on both sides, but for the newest.
  constexpr uint32_t kApplied =
      1u << static_cast<int>(StepField::kAppliedGradNorm);
  step.present = record.present & (kApplied - 1);
  if ((record.present & kApplied) != 0) {
    step.present |= NANWATCH_STEP_APPLIED_GRAD_NORM;
  }
  for (const auto& [flag, bit, place] :
       {std::tuple(StepFlag::kOverflow, NANWATCH_STEP_OVERFLOW, &step.overflow),
        std::tuple(StepFlag::kSkipped, NANWATCH_STEP_SKIPPED, &step.skipped)}) {
    if (!record.is(flag) && !record.is_not(flag)) continue;
    step.present |= bit;
    *place = record.is(flag);
  }
  return step;
}

}  // namespace

TailFeed::TailFeed(Options options)
    : options_(std::move(options)), run_id_(options_.run_id) {}

TailFeed::~TailFeed() {
  for (auto& [rank, session] : sessions_) nanwatch_close(session.handle, 0);
}

void TailFeed::Open(int32_t rank, const RunDescription& run) {
  if (!options_.tells_itself || !sessions_.empty()) {
    OpenSession(rank, run);
    return;
  }
  if (!IsHeld()) held_since_ = std::chrono::steady_clock::now();
  held_runs_.emplace(rank, run);
}

void TailFeed::DecideHeld(bool at_end) {
  if (!options_.tells_itself || silenced_) return;
  if (options_.tells_itself()) {
    silenced_ = true;
    held_runs_.clear();
    held_.clear();
    // One that spoke for the program until now ends, as its records do.
    for (auto& [rank, session] : sessions_) {
      nanwatch_close(session.handle, kFeedCloseMs);
    }
    sessions_.clear();
    return;
  }
  const auto waited = std::chrono::steady_clock::now() - held_since_;
  if (!IsHeld() ||
      (!at_end && held_.size() < kHeldMax && waited < kHookSeconds)) {
    return;
  }
  const auto runs = std::exchange(held_runs_, {});
  const auto records = std::exchange(held_, {});
  for (const auto& [rank, run] : runs) OpenSession(rank, run);
  for (const LogRecord& record : records) PushRecord(record);
}

void TailFeed::OpenSession(int32_t rank, const RunDescription& run) {
  Session& session = sessions_[rank];
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.address = options_.address.c_str();
  // What a pod says of its job goes before the name of a program or a file.
  const char* job = std::getenv("NANWATCH_JOB");
  const bool said = job != nullptr && *job != '\0';
  options.job = said ? job : options_.job.c_str();
  if (!run_id_.empty()) options.run_id = run_id_.c_str();
  if (!options_.rank_of_environment || sessions_.size() > 1) {
    options.rank = rank;
    options.present |= NANWATCH_RUN_RANK;
  }
  if (run.world_size > 1) {
    options.world_size = run.world_size;
    options.present |= NANWATCH_RUN_WORLD_SIZE;
  }
  options.framework = run.framework.c_str();
  options.precision = run.precision.c_str();
  if (run.scaler.kind == ScalingKind::kNone) {
    options.scaler.kind = NANWATCH_SCALING_NONE;
  }
  if (run.clip_norm) {
    options.clip_norm = *run.clip_norm;
    options.present |= NANWATCH_RUN_CLIP_NORM;
  }
  std::vector<nanwatch_setting> settings;
  for (const auto& [key, value] : run.settings) {
    settings.push_back({key.c_str(), value.c_str()});
  }
  options.settings = settings.data();
  options.settings_count = settings.size();
  session.handle = nanwatch_open(&options);
  const bool first = sessions_.size() == 1;
  if (!first && silent_) return;
  // Other ranks join the run that the first was given, and begin together.
  const auto end = std::chrono::steady_clock::now() + kHandshake;
  while (StatsOf(session.handle).connected == 0 &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  if (!first) return;
  silent_ = StatsOf(session.handle).connected == 0;
  if (run_id_.empty()) run_id_ = run_id();
}

void TailFeed::KeepTogether(int64_t step) {
  if (together_ >= 0 && step >= together_ && step < together_ + kWindowSteps) {
    return;
  }
  together_ = step;
  for (auto& [rank, session] : sessions_) {
    if (session.pushed > 0) Breathe(&session, kTogetherMs);
  }
}

void TailFeed::Push(const LogRecord& record) {
  if (silenced_) return;
  if (!IsHeld()) {
    PushRecord(record);
    return;
  }
  held_.push_back(record);
  if (held_.size() >= kHeldMax) DecideHeld(/*at_end=*/false);
}

void TailFeed::PushRecord(const LogRecord& record) {
  if (sessions_.size() > 1) KeepTogether(record.step.step);
  Session& session = sessions_.at(record.rank);
  nanwatch_step step = StepOf(record.step);
  if (!record.optimizer.empty()) {
    auto known = session.optimizers.find(record.optimizer);
    if (known == session.optimizers.end()) {
      const std::string name(record.optimizer);
      known = session.optimizers
                  .emplace(name, nanwatch_optimizer_register(session.handle,
                                                             name.c_str()))
                  .first;
    }
    step.optimizer = known->second;
  }
  nanwatch_push_step(session.handle, &step);
  if (++session.pushed >= kBreatheEvery) Breathe(&session, kBreathMs);
}

// Once in vain is enough until the daemon takes something again.
void TailFeed::Breathe(Session* session, int wait_ms) {
  session->pushed = 0;
  const nanwatch_stats stats = StatsOf(session->handle);
  if (stats.connected == 0 || (hung_ && stats.acked == hung_at_)) return;
  hung_ = nanwatch_flush(session->handle, wait_ms) == 0;
  hung_at_ = StatsOf(session->handle).acked;
}

std::string TailFeed::run_id() const {
  if (sessions_.empty()) return closed_as_;
  return StatsOf(sessions_.begin()->second.handle).run_id;
}

std::optional<std::string> TailFeed::News() {
  DecideHeld(/*at_end=*/false);
  if (told_ || silenced_) return std::nullopt;
  const std::string run = Clean(run_id());
  if (run.empty()) {
    if (!std::exchange(silent_, false)) return std::nullopt;
    return fmt::format(
        "no nanwatchd answers at {}; it gets the records when it does",
        options_.address);
  }
  told_ = true;
  return fmt::format(
      "nanwatchd gets the records, as run {0}; `nanwatch watch {0}`", run);
}

std::string TailFeed::Close() {
  DecideHeld(/*at_end=*/true);
  closed_as_ = run_id();
  uint64_t lost = 0;
  uint64_t pushed = 0;
  int left_ms = kFeedCloseMs;
  for (auto& [rank, session] : sessions_) {
    const auto begin = std::chrono::steady_clock::now();
    nanwatch_flush(session.handle, left_ms);
    const nanwatch_stats stats = StatsOf(session.handle);
    pushed += stats.pushed;
    lost += stats.pushed - stats.acked;
    nanwatch_close(session.handle, left_ms);
    const auto took = std::chrono::duration_cast<milliseconds>(
        std::chrono::steady_clock::now() - begin);
    left_ms = std::max<int>(0, left_ms - static_cast<int>(took.count()));
  }
  sessions_.clear();
  if (lost == 0) return "";
  return fmt::format("nanwatchd at {} did not take {} of {} records",
                     options_.address, Grouped(lost), Grouped(pushed));
}

}  // namespace nanwatch
