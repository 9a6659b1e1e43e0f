#include "app/log_judge.h"

#include <utility>

namespace nanwatch {

LogJudge::LogJudge(Options options)
    : on_record_(std::move(options.on_record)),
      records_({.run_id = std::move(options.run_id),
                .rules = std::move(options.rules),
                .benchmark = std::move(options.benchmark),
                .describe =
                    [this](int32_t) {
                      RunDescription run = reader_.run();
                      run.framework = reader_.recogniser().Emitter();
                      return run;
                    },
                .on_notice = std::move(options.on_notice),
                .on_event = std::move(options.on_event)}),
      reader_(options.format, options.columns, [this](const LogRecord& record) {
        last_line_ = record.line;
        Count(record);
        if (on_record_) on_record_(record);
        records_.Take(record.rank, record.optimizer, record.step);
      }) {
  reader_.SetFile(options.file);
}

LogJudge::~LogJudge() = default;

// What a line tells of several optimizers is one update.
void LogJudge::Count(const LogRecord& record) {
  if (!first_rank_) first_rank_ = record.rank;
  if (record.rank != *first_rank_ || !record.shown) return;
  const int64_t step = std::exchange(shown_step_, record.step.step);
  const uint64_t line = std::exchange(shown_line_, record.line);
  if (step != shown_step_ || line != shown_line_) ++shown_;
}

RecordsEnded EndOf(const std::optional<LogStopped>& stopped, bool went_on,
                   const std::optional<LogBroke>& broke) {
  RecordsEnded ended;
  if (stopped) ended.gave_up = stopped->word;
  if (stopped && !went_on) {
    ended.how = RecordsEnded::How::kGaveUp;
  } else if (broke) {
    ended.how = RecordsEnded::How::kBroke;
    ended.end = broke->end;
  }
  return ended;
}

LogVerdict LogJudge::Finish() {
  reader_.Finish();
  const std::optional<LogStopped>& stopped = reader_.stopped();
  const std::optional<LogBroke> broke = reader_.broke();
  const bool went_on = stopped && last_line_ > stopped->line;
  LogVerdict verdict;
  static_cast<RecordVerdict&>(verdict) = records_.Conclude(
      EndOf(stopped, went_on, broke), broke ? broke->rank : std::nullopt);
  verdict.emitter = reader_.recogniser().Emitter();
  verdict.lines = reader_.lines();
  verdict.steps_counted = reader_.counts_steps();
  verdict.of_epochs = reader_.tells_epochs();
  verdict.updates =
      verdict.steps_between ? shown_ : static_cast<uint64_t>(verdict.steps);
  verdict.ranks = records_.ranks();
  verdict.coverage = reader_.recogniser().coverage();
  verdict.stopped = stopped;
  verdict.broke = broke;
  return verdict;
}

}  // namespace nanwatch
