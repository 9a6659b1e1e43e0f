#include "app/log_judge.h"

#include <string>
#include <utility>

#include "detect/loss_nonfinite.h"
#include "detect/scale_at_floor.h"

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

namespace {

// Nothing that was seen was trouble: the program's own word for it is.
Incident OwnWord(const RunView& attempt, const std::string& reason) {
  const bool scale = reason.find("scale") != std::string::npos;
  Incident incident;
  incident.family =
      scale ? ScaleAtFloor::kSpec.family : LossNonfinite::kSpec.family;
  incident.rule =
      scale ? ScaleAtFloor::kSpec.number : LossNonfinite::kSpec.number;
  incident.state = AlertState::kFiring;
  incident.opened_step = attempt.last_overflow_step.value_or(attempt.last_step);
  incident.summary = "The program gave up: " + reason;
  return incident;
}

// The worst trouble that it was in when it gave up is what it gave up over.
std::shared_ptr<const RunView> GivenUp(const RunView& attempt,
                                       const std::string& reason) {
  auto view = std::make_shared<RunView>(attempt);
  Incident* worst = nullptr;
  for (Incident& incident : view->incidents) {
    if (incident.state != AlertState::kFiring ||
        incident.severity < Severity::kWarning ||
        incident.family == Family::kTelemetry) {
      continue;
    }
    if (worst == nullptr || incident.severity > worst->severity) {
      worst = &incident;
    }
  }
  if (worst == nullptr) {
    worst = &*view->incidents.insert(view->incidents.begin(),
                                     OwnWord(attempt, reason));
    view->diagnosis.headline =
        "The program ended over its numerics; the log shows no trouble before.";
  }
  worst->severity = worst->worst = Severity::kCritical;
  view->severity = Severity::kCritical;
  return view;
}

}  // namespace

void JudgeStop(bool went_on, LogVerdict* verdict) {
  if (!verdict->stopped || verdict->records == 0) return;
  verdict->worst = Severity::kCritical;
  if (went_on) return;
  verdict->at_end = Severity::kCritical;
  if (verdict->attempts.empty()) return;
  verdict->attempts.back() =
      GivenUp(*verdict->attempts.back(), verdict->stopped->reason);
}

LogVerdict LogJudge::Finish() {
  reader_.Finish();
  records_.Conclude();
  LogVerdict verdict;
  static_cast<RecordVerdict&>(verdict) = records_.Verdict();
  verdict.emitter = reader_.recogniser().Emitter();
  verdict.lines = reader_.lines();
  verdict.stopped = reader_.stopped();
  JudgeStop(verdict.stopped && last_line_ > verdict.stopped->line, &verdict);
  return verdict;
}

}  // namespace nanwatch
