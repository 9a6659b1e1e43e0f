#include "cli/tail_judge.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "logs/tensorboard.h"

namespace nanwatch {
namespace {

// By the first bytes: .gz, .zst or TensorBoard's.
bool IsNoText(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b") ||
         bytes.starts_with("\x28\xb5\x2f\xfd") ||
         (bytes.size() >= RecordFile::kHeadSize &&
          TensorBoardReader::Recognise(bytes));
}

}  // namespace

TailJudge::TailJudge(Options options)
    : options_(std::move(options)),
      judge_({.run_id = "tail",
              .rules = {},
              .describe = [this](int32_t) { return Describe(*speaking_); },
              .on_notice =
                  [this](const Notice& notice) {
                    options_.voice->Tell(notice);
                  }}) {
  for (const std::optional<int32_t>& rank : options_.ranks) {
    Log* log = logs_.emplace_back(std::make_unique<Log>()).get();
    log->rank = rank;
    log->reader = std::make_unique<LogReader>(
        options_.format, options_.columns,
        [this, log](const LogRecord& record) { Take(log, record); });
    log->lines = std::make_unique<LineSplitter>(
        [log](std::string_view line) { log->reader->ReadLine(line); });
  }
}

TailJudge::~TailJudge() = default;

RunDescription TailJudge::Describe(const Log& log) const {
  RunDescription run = log.reader->run();
  run.framework = log.reader->recogniser().Emitter();
  run.world_size = static_cast<int32_t>(logs_.size());
  for (const auto& other : logs_) {
    run.world_size = std::max(run.world_size, other->rank.value_or(0) + 1);
  }
  return run;
}

void TailJudge::Take(Log* log, LogRecord record) {
  record.rank = log->rank.value_or(record.rank);
  log->newest_step = std::max<int64_t>(0, record.step.step);
  if (speaking_ != log) judge_.Judge();
  speaking_ = log;
  judge_.Take(record.rank, record.optimizer, record.step);
  if (options_.feed == nullptr) return;
  if (!options_.feed->IsOpen(record.rank)) {
    options_.feed->Open(record.rank, Describe(*log));
  }
  options_.feed->Push(record);
}

void TailJudge::Feed(size_t number, std::string_view bytes, Time now) {
  Log& log = *logs_[number];
  if (log.foreign) return;
  if (log.lines->bytes() == 0 && IsNoText(bytes)) {
    log.foreign = true;
    options_.voice->Note(
        "this is packed or TensorBoard's, which `nanwatch check` reads when it "
        "is complete");
    return;
  }
  log.fed = now;
  log.waits = true;
  log.lines->Feed(bytes);
  judge_.Judge();
  TellNews();
}

void TailJudge::Break(size_t number) { logs_[number]->lines->Finish(); }

void TailJudge::Tick(Time now) {
  for (const auto& log : logs_) {
    if (!log->waits || now - log->fed < options_.idle_flush) continue;
    log->waits = false;
    log->lines->Finish();
    log->reader->Flush();
    judge_.Judge();
  }
  TellNews();
}

void TailJudge::TellNews() {
  for (const auto& log : logs_) {
    const Recogniser& recogniser = log->reader->recogniser();
    if (recognised_ || recogniser.program() == nullptr ||
        recogniser.step_lines() == 0) {
      continue;
    }
    recognised_ = true;
    const bool guess = recogniser.certainty() == Recogniser::Certainty::kGuess;
    options_.voice->Note(
        guess ? fmt::format("no known program's log; reading its numbers by "
                            "their names ({})",
                            recogniser.Emitter())
              : fmt::format("a log of {}", recogniser.Emitter()));
  }
  if (options_.feed == nullptr) return;
  if (const auto news = options_.feed->News()) options_.voice->Note(*news);
}

LogVerdict TailJudge::Finish() {
  LogVerdict verdict;
  for (const auto& log : logs_) {
    log->lines->Finish();
    log->reader->Finish();
    judge_.Judge();
    verdict.lines += log->reader->lines();
    if (verdict.emitter.empty()) {
      verdict.emitter = log->reader->recogniser().Emitter();
    }
    if (!verdict.stopped) verdict.stopped = log->reader->stopped();
  }
  static_cast<RecordVerdict&>(verdict) = judge_.Verdict();
  TellNews();
  return verdict;
}

}  // namespace nanwatch
