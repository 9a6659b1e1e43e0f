#include "app/log_judge.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "detect/gnorm_explosion.h"
#include "detect/loss_nonfinite.h"
#include "detect/scale_at_floor.h"
#include "diagnose/actions.h"

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

struct Word {
  RuleId rule;
  Family family;
  Cause cause;  // likely
  std::string_view sentence;
};

Word WordOn(std::optional<StepField> over) {
  if (over == StepField::kLoss) {
    return {LossNonfinite::kSpec.id, LossNonfinite::kSpec.family,
            Cause::kNanFromForward,
            "A loss that is not finite comes from the forward pass, the data "
            "or the weights."};
  }
  if (over == StepField::kGradNorm) {
    return {GnormExplosion::kSpec.id, GnormExplosion::kSpec.family,
            Cause::kNanFromBackward,
            "Gradients that are not finite behind a finite loss come from an "
            "op's backward pass, the data or a device."};
  }
  return {ScaleAtFloor::kSpec.id, ScaleAtFloor::kSpec.family,
          Cause::kScaleIndependentOp,
          "Overflows that no lower loss scale ends come from an op that the "
          "scale does not reach."};
}

// Nothing that was seen was trouble: the program's own word for it is.
void TakeItsWord(const LogStopped& stopped, RunView* view) {
  const Word word = WordOn(stopped.over);
  Incident& incident = *view->incidents.emplace(view->incidents.begin());
  incident.family = word.family;
  incident.rule = word.rule;
  incident.state = AlertState::kFiring;
  incident.opened_step = view->last_step;
  incident.summary = "The program gave up: " + stopped.reason;
  CauseVerdict cause;
  cause.cause = word.cause;
  cause.step = view->last_step;
  cause.rule = word.rule;
  cause.sentence = word.sentence;
  cause.rules = {word.rule};
  cause.actions = ActionsFor(word.cause, {.ops_collected = false},
                             view->description.framework);
  view->diagnosis.causes = {std::move(cause)};
  view->diagnosis.headline =
      "The program ended over its numerics; the log shows no trouble before.";
}

// The worst trouble that it was in when it gave up is what it gave up over.
std::shared_ptr<const RunView> GivenUp(const RunView& attempt,
                                       const LogStopped& stopped) {
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
    TakeItsWord(stopped, view.get());
    worst = &view->incidents.front();
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
      GivenUp(*verdict->attempts.back(), *verdict->stopped);
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
