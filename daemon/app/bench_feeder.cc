#include "app/bench_feeder.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <utility>

#include "app/earlier_attempts.h"
#include "base/log.h"
#include "compare/benchmark_of.h"
#include "compare/compared_run.h"
#include "history/reader.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// Which setting names a run's benchmark; clients know it, too.
constexpr const char* kSetting = "benchmark";
// How soon a run that opened is found. Ours: before its first steps are judged
// a training has loaded its data.
constexpr Duration kLook = std::chrono::milliseconds(100);

// "RUN@3"; a run's id may hold an @ of its own.
std::pair<std::string, std::optional<int32_t>> NameAndAttempt(
    const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos) return {text, std::nullopt};
  int32_t attempt = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] =
      std::from_chars(text.data() + at + 1, end, attempt);
  if (error != std::errc() || last != end || attempt < 0) {
    return {text, std::nullopt};
  }
  return {text.substr(0, at), attempt};
}

}  // namespace

BenchFeeder::BenchFeeder(Options options, Look look, Post post)
    : options_(std::move(options)),
      look_(std::move(look)),
      post_(std::move(post)) {}

void BenchFeeder::Start() {
  thread_ = std::thread([this] {
    while (!stop_) {
      RunOnce();
      std::this_thread::sleep_for(kLook);
    }
  });
}

BenchFeeder::~BenchFeeder() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void BenchFeeder::RunOnce() {
  const std::shared_ptr<const Snapshot> snapshot = look_();
  std::set<RunKey> held;
  with_one_ = 0;
  snapshot->runs.ForEach(
      [&](const RunView& run) { with_one_ += run.bench != nullptr; });
  snapshot->runs.ForEach([&](const RunView& run) {
    held.insert(run.key);
    if (run.opened < options_.since || seen_.count(run.key) > 0) return;
    if (run.state == LifeState::kClosed || run.bench != nullptr) return;
    const auto& settings = run.description.settings;
    const auto said = settings.find(kSetting);
    const auto of_job = options_.of_job.find(run.description.job);
    if (said != settings.end()) {
      Feed(run, said->second);
    } else if (of_job != options_.of_job.end()) {
      Feed(run, of_job->second);
    } else if (run.key.attempt > 0 && run.updates > 0) {
      FeedEarlier(run);
    }
  });
  std::erase_if(seen_, [&](const RunKey& key) { return !held.contains(key); });
}

void BenchFeeder::Feed(const RunView& run, const std::string& reference) {
  const auto benchmark = Read(reference, run);
  if (!benchmark.ok()) return Leave(run, benchmark.error());
  Give(run, {*benchmark, run.description.owner});
}

void BenchFeeder::FeedEarlier(const RunView& run) {
  const int32_t rank = run.ranks.front()->front().description.rank;
  auto reader = HistoryReader::Open(options_.history_path);
  if (!reader.ok()) return Leave(run, reader.error());
  const auto rows = (*reader)->Runs();
  if (!rows.ok()) return Leave(run, rows.error());
  const bool on_disk = FindRun(*rows, run.key.run_id, run.key.attempt);
  if (!on_disk) return;  // not yet
  const auto first = FirstStepOf(**reader, run.key, rank);
  if (!first.ok()) return Leave(run, first.error());
  if (!*first) return;  // nor its first record
  const auto benchmark = EarlierAttempts(**reader, run.key, rank, **first);
  if (!benchmark.ok()) return Leave(run, benchmark.error());
  if (*benchmark != nullptr) return Give(run, {*benchmark, ""});
  seen_.insert(run.key);
}

void BenchFeeder::Give(const RunView& run, const BenchmarkSet& set) {
  if (with_one_ >= limits::kBenchmarks) {
    return Leave(run, fmt::format("{} runs have one, as many as are held",
                                  limits::kBenchmarks));
  }
  if (!post_(run.key, set)) return;
  seen_.insert(run.key);
  ++with_one_;
}

void BenchFeeder::Leave(const RunView& run, const std::string& why) {
  seen_.insert(run.key);
  LogWarning("a run has no benchmark",
             fmt::format("run_id={} attempt={} {}", run.key.run_id,
                         run.key.attempt, why));
}

Result<std::shared_ptr<const Benchmark>> BenchFeeder::Read(
    const std::string& reference, const RunView& run) const {
  const Error unknown{fmt::format(
      "there is no run {}: `nanwatch runs` lists those that are there",
      reference)};
  auto reader = HistoryReader::Open(options_.history_path);
  if (!reader.ok()) return Error{reader.error()};
  const auto rows = (*reader)->Runs();
  if (!rows.ok()) return Error{rows.error()};
  const auto [run_id, attempt] = NameAndAttempt(reference);
  const RunRow* row = FindRun(*rows, run_id, attempt);
  if (row == nullptr) return unknown;
  const std::string& owner = row->description.owner;
  const bool may = options_.read_by_everyone() || owner.empty() ||
                   owner == run.description.owner;
  if (!may) return unknown;
  RunCollector collector;
  const Status read =
      (*reader)->ForEachEvent(0, row->key, [&](const StampedEvent& stamped) {
        collector.Take(stamped.event);
        return true;
      });
  if (!read.ok()) return Error{read.error()};
  return BenchmarkOf(collector.Finish(), reference);
}

}  // namespace nanwatch
