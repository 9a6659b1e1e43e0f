#include "relay/forwards.h"

#include <utility>

#include "relay/join_steps.h"
#include "wire/op_codec.h"
#include "wire/op_name_codec.h"
#include "wire/run_codec.h"
#include "wire/step_codec.h"

namespace nanwatch {

void Forwards::Know(SessionId session, const RunKey& run,
                    const v1::RunInfo& info) {
  sessions_[session];
  runs_[run] = info;
}

void Forwards::Take(const StampedEvent& stamped, std::deque<Forward>* queue) {
  const Event& event = stamped.event;
  Forward out;
  out.session = event.session;
  out.sequence = event.sequence;
  out.run = event.run;
  out.first_id = stamped.id;
  out.now = stamped.now;
  const auto begin = [&] {
    if (unfinished_ == 0) unfinished_ = stamped.id;
  };
  if (const auto* opened = std::get_if<RunOpened>(&event.body)) {
    begin();
    v1::RunInfo& run = runs_[event.run];
    run.Clear();
    WriteRun(opened->description, &run);
    run.set_run_id(event.run.run_id);
    return;
  }
  if (const auto* ended = std::get_if<RecordsEnded>(&event.body)) {
    const auto session = sessions_.find(event.session);
    if (session == sessions_.end() ||
        ended->how == RecordsEnded::How::kBeganAgain) {
      return;
    }
    begin();
    session->second.broke = ended->end.has_value();
    if (ended->end) WriteProgramEnd(*ended->end, &session->second.end);
    return;
  }
  if (const auto* opened = std::get_if<RankOpened>(&event.body)) {
    const auto run = runs_.find(event.run);
    if (run == runs_.end()) return;
    // Steps that went back: the session is there, and goes on with this event.
    if (!sessions_[event.session].parts.step.empty()) return;
    out.kind = Forward::Kind::kOpen;
    v1::OpenSession* open = out.request.mutable_open();
    *open->mutable_run() = run->second;
    open->mutable_run()->set_attempt(event.run.attempt);
    WriteRank(opened->rank, open->mutable_rank());
    open->mutable_relayed()->set_opened_us(ToMicros(stamped.now));
  } else if (std::holds_alternative<RankLost>(event.body)) {
    const auto session = sessions_.find(event.session);
    if (session == sessions_.end()) return;
    out.kind = Forward::Kind::kLost;
    out.sequence = session->second.newest;
    out.request.mutable_lost()->set_reason(
        std::get<RankLost>(event.body).reason);
  } else if (std::holds_alternative<RunClosed>(event.body)) {
    runs_.erase(event.run);
    out.kind = Forward::Kind::kRunOver;
    out.session = 0;
  } else if (sessions_.contains(event.session)) {
    if (const auto* steps = std::get_if<StepBatch>(&event.body);
        steps != nullptr && event.sequence == 0) {
      begin();
      JoinSteps(steps->columns, &sessions_[event.session].parts);
      return;
    }
    if (event.sequence == 0) return;  // op names that an attempt carries over
    TakeMessage(stamped, &out);
    if (out.request.kind_case() == v1::IngestRequest::KIND_NOT_SET) return;
  } else {
    return;
  }
  // The end of an attempt may come between the parts of a batch.
  if (unfinished_ != 0 && out.kind != Forward::Kind::kRunOver) {
    out.first_id = std::exchange(unfinished_, 0);
  }
  out.bytes = sizeof(out) + out.request.SpaceUsedLong();
  queue->push_back(std::move(out));
}

void Forwards::TakeMessage(const StampedEvent& stamped, Forward* out) {
  const Event& event = stamped.event;
  const auto found = sessions_.find(event.session);
  Session& session = found->second;
  session.newest = event.sequence;
  v1::IngestRequest& to = out->request;
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    StepColumns whole = std::exchange(session.parts, {});
    JoinSteps(steps->columns, &whole);
    WriteSteps(whole, to.mutable_steps());
    to.mutable_steps()->set_sequence(event.sequence);
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    WriteOps(ops->columns, to.mutable_ops());
    to.mutable_ops()->set_sequence(event.sequence);
  } else if (const auto* names = std::get_if<OpNamesAdded>(&event.body)) {
    WriteOpNames(names->names, to.mutable_op_names());
    to.mutable_op_names()->set_sequence(event.sequence);
  } else if (const auto* dropped = std::get_if<Dropped>(&event.body)) {
    v1::Dropped* lost = to.mutable_dropped();
    lost->set_sequence(event.sequence);
    lost->set_steps(dropped->steps);
    lost->set_ops(dropped->ops);
    lost->set_first_step(dropped->first_step);
    lost->set_last_step(dropped->last_step);
  } else if (std::holds_alternative<RankClosed>(event.body)) {
    to.mutable_close()->set_sequence(event.sequence);
    if (session.broke) *to.mutable_close()->mutable_end() = session.end;
    sessions_.erase(found);
  }
}

}  // namespace nanwatch
