#include "app/audit_log.h"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "json/value.h"
#include "model/metric_names.h"

namespace nanwatch {
namespace {

// What may wait for a disk that is slow: 4,096 lines of 300 bytes. Ours.
constexpr size_t kWaiting = 4096;
constexpr size_t kWaitingBytes = 4 << 20;
// Refusals that are written: so many at once, and so many a second from then
// on. A flood of a day is 860,000 lines, 300 MB, whatever it sends. Ours.
constexpr double kRefusalsAtOnce = 100;
constexpr double kRefusalsPerSecond = 10;
// Of a text that others chose. Names and reasons are shorter.
constexpr size_t kTextBytes = 1024;
// How long it waits for lines: with something to tell later, and without.
constexpr Duration kSoon = std::chrono::seconds(1);
constexpr Duration kLong = std::chrono::minutes(1);

std::string Shortened(const std::string& text) {
  return text.size() <= kTextBytes ? text : text.substr(0, kTextBytes) + "...";
}

// "2026-11-26T20:41:03.123456Z".
std::string Iso(Time time) {
  const int64_t us = ToMicros(time);
  const auto seconds = static_cast<std::time_t>(us / 1'000'000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(seconds),
                     us % 1'000'000);
}

size_t BytesOf(const AuditEntry& entry) {
  return sizeof entry + entry.who.size() + entry.from.size() +
         entry.run_id.size() + entry.owner.size() + entry.what.size();
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const AuditOptions& options,
                                                 Clock& clock) {
  auto output = OpenAudit(options);
  if (!output.ok()) return Error{output.error()};
  return std::make_unique<AuditLog>(std::move(*output), clock);
}

AuditLog::AuditLog(std::unique_ptr<AuditOutput> output, Clock& clock)
    : clock_(clock),
      output_(std::move(output)),
      waiting_(kWaiting, kWaitingBytes),
      refusals_(kRefusalsAtOnce),
      refilled_(clock.Now()) {
  if (output_ == nullptr) return;
  thread_ = std::thread([this] {
    while (!stop_) RunOnce(tells_later() ? kSoon : kLong);
  });
}

AuditLog::~AuditLog() {
  if (output_ == nullptr) return;
  stop_ = true;
  waiting_.Close();
  thread_.join();
  RunOnce(Duration(0));
}

AuditSink AuditLog::Sink() {
  if (output_ == nullptr) return nullptr;
  return [this](AuditEntry entry) { Add(std::move(entry)); };
}

void AuditLog::Add(AuditEntry entry) {
  if (output_ == nullptr) return;
  for (std::string* text :
       {&entry.who, &entry.from, &entry.run_id, &entry.owner, &entry.what}) {
    *text = Shortened(*text);
  }
  const size_t bytes = BytesOf(entry);
  if (!waiting_.TryPush({clock_.Now(), std::move(entry)}, bytes)) ++lost_;
}

void AuditLog::Rotate() {
  rotate_ = true;
  waiting_.Wake();
}

void AuditLog::RunOnce(Duration wait) {
  waiting_.PopAll(wait, &batch_);
  if (rotate_.exchange(false)) {
    const Status opened = output_->Reopen();
    if (!opened.ok())
      LogError("the old audit file is written on", opened.error());
  }
  for (const Waiting& one : batch_) {
    if (one.entry.kind == AuditKind::kRefusal && !MayRefuse(one.at)) {
      ++left_out_;
      continue;
    }
    Write(one);
  }
  const Time now = clock_.Now();
  if (left_out_ > told_left_out_ && MayRefuse(now)) TellLeftOut(now);
  TellLost(now);
}

// A clock that was set back gives nothing.
bool AuditLog::MayRefuse(Time now) {
  const double passed = ToSeconds(std::max(Duration(0), now - refilled_));
  refilled_ = now;
  refusals_ =
      std::min(kRefusalsAtOnce, refusals_ + passed * kRefusalsPerSecond);
  if (refusals_ < 1) return false;
  refusals_ -= 1;
  return true;
}

void AuditLog::Write(const Waiting& one) {
  const AuditEntry& entry = one.entry;
  Json line = {{"time", Iso(one.at)},
               {"kind", std::string(Name(entry.kind))},
               {"who", entry.who},
               {"from", entry.from}};
  if (!entry.run_id.empty()) line["run"] = entry.run_id;
  if (entry.attempt) line["attempt"] = *entry.attempt;
  if (entry.rank) line["rank"] = *entry.rank;
  if (!entry.owner.empty()) line["owner"] = entry.owner;
  if (!entry.what.empty()) line["what"] = entry.what;
  WriteLine(Dump(line));
}

void AuditLog::TellLeftOut(Time now) {
  const uint64_t count = left_out_;
  WriteLine(Dump({{"time", Iso(now)},
                  {"kind", "refusals_left_out"},
                  {"count", count - told_left_out_}}));
  told_left_out_ = count;
}

// Also that line may be lost: then it is told later, with what was lost since.
void AuditLog::TellLost(Time now) {
  const uint64_t count = lost_;
  if (count == told_lost_) return;
  const std::string line = Dump({{"time", Iso(now)},
                                 {"kind", "lines_lost"},
                                 {"count", count - told_lost_}});
  if (!output_->Write(line)) return;
  ++lines_;
  told_lost_ = count;
}

void AuditLog::WriteLine(const std::string& line) {
  ++(output_->Write(line) ? lines_ : lost_);
}

void AuditLog::AppendSamples(std::vector<SelfSample>* samples) const {
  if (output_ == nullptr) return;
  const auto add = [&](Metric metric, const std::atomic<uint64_t>& value) {
    samples->push_back({Name(metric), {}, static_cast<double>(value.load())});
  };
  add(Metric::kAuditLines, lines_);
  add(Metric::kAuditLost, lost_);
  add(Metric::kAuditLeftOut, left_out_);
}

}  // namespace nanwatch
