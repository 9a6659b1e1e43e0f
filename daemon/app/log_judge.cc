#include "app/log_judge.h"

#include <utility>

namespace nanwatch {

LogJudge::LogJudge(Options options)
    : on_record_(std::move(options.on_record)),
      records_({.run_id = std::move(options.run_id),
                .rules = std::move(options.rules),
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
        if (on_record_) on_record_(record);
        records_.Take(record.rank, record.optimizer, record.step);
      }) {}

LogJudge::~LogJudge() = default;

RecordsEnded EndOf(const std::optional<LogStopped>& stopped, bool went_on) {
  RecordsEnded ended;
  if (!stopped) return ended;
  ended.gave_up = GaveUp{stopped->reason, stopped->over};
  if (!went_on) ended.how = RecordsEnded::How::kGaveUp;
  return ended;
}

LogVerdict LogJudge::Finish() {
  reader_.Finish();
  const std::optional<LogStopped>& stopped = reader_.stopped();
  LogVerdict verdict;
  static_cast<RecordVerdict&>(verdict) =
      records_.Conclude(EndOf(stopped, stopped && last_line_ > stopped->line));
  verdict.emitter = reader_.recogniser().Emitter();
  verdict.lines = reader_.lines();
  verdict.coverage = reader_.recogniser().coverage();
  verdict.stopped = stopped;
  return verdict;
}

}  // namespace nanwatch
