#include "wire/event_codec.h"

#include <google/protobuf/arena.h>
#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <utility>
#include <variant>

#include "nanwatch/v1/history.pb.h"
#include "wire/benchmark_codec.h"
#include "wire/narrow_columns.h"
#include "wire/op_codec.h"
#include "wire/op_name_codec.h"
#include "wire/run_codec.h"
#include "wire/run_opened_codec.h"
#include "wire/scratch_arena.h"
#include "wire/session_name.h"
#include "wire/step_codec.h"

namespace nanwatch {
namespace {

using v1::StoredEvent;

void WriteOptions(const EngineOptions& from, v1::StoredEngineOptions* to) {
  to->set_alert_hold_us(from.alert.hold.count());
  to->set_alert_reopen_within_us(from.alert.reopen_within.count());
  to->set_alert_flaps_after(from.alert.flaps_after);
  to->set_lost_run_closes_after_us(from.lost_run_closes_after.count());
  to->set_ended_run_leaves_after_us(from.ended_run_leaves_after.count());
  to->set_stop_on(static_cast<uint32_t>(from.stop_on));
  to->mutable_masked_ops()->Add(from.masked_ops.begin(), from.masked_ops.end());
  to->set_times_are_real(from.times_are_real);
}

struct BodyWriter {
  StoredEvent* to;

  void operator()(const DaemonStarted& body) {
    to->mutable_daemon_started()->set_engine_version(body.engine_version);
    to->mutable_daemon_started()->set_alive_until_us(
        ToMicros(body.alive_until));
    to->mutable_daemon_started()->set_engine_build(body.engine_build);
    to->mutable_daemon_started()->set_clock_jumped(body.clock_jumped);
  }
  void operator()(const RulesLoaded& body) {
    v1::StoredRules* rules = to->mutable_rules_loaded();
    for (const auto& [name, settings] : body.rules.rules) {
      v1::StoredRules::Rule* rule = rules->add_rules();
      rule->set_name(name);
      rule->set_enabled(settings.enabled);
      rule->mutable_thresholds()->Assign(settings.thresholds.begin(),
                                         settings.thresholds.end());
    }
    WriteOptions(body.engine, rules->mutable_engine());
  }
  void operator()(const RunOpened& body) {
    WriteRunOpened(body, to->mutable_run_opened());
  }
  void operator()(const RankOpened& body) {
    v1::StoredRankOpened* opened = to->mutable_rank_opened();
    WriteRank(body.rank, opened->mutable_rank());
    opened->set_ops_known(body.ops_known);
    opened->set_clock_skew_us(body.clock_skew_us);
  }
  void operator()(const OpNamesAdded& body) {
    WriteOpNames(body.names, to->mutable_op_names());
  }
  void operator()(const StepBatch& body) {
    WriteSteps(body.columns, to->mutable_steps());
  }
  void operator()(const OpBatch& body) {
    WriteOps(body.columns, to->mutable_ops());
  }
  void operator()(const Dropped& body) {
    v1::Dropped* dropped = to->mutable_dropped();
    dropped->set_steps(body.steps);
    dropped->set_ops(body.ops);
    dropped->set_first_step(body.first_step);
    dropped->set_last_step(body.last_step);
  }
  void operator()(const RankLost& body) {
    to->mutable_rank_lost()->set_reason(body.reason);
  }
  void operator()(const RankClosed&) { to->mutable_rank_closed(); }
  void operator()(const RunClosed& body) {
    to->mutable_run_closed()->set_reason(body.reason);
    to->mutable_run_closed()->set_in_order(body.in_order);
  }
  void operator()(const Annotation& body) {
    v1::StoredAnnotation* annotation = to->mutable_annotation();
    annotation->set_kind(static_cast<uint32_t>(body.kind));
    annotation->set_incident(body.incident);
    annotation->set_rule(NumberOf(body.rule));
    annotation->set_until_us(ToMicros(body.until));
    annotation->set_by(body.by);
    annotation->set_reason(body.reason);
  }
  void operator()(const BenchmarkSet& body) {
    v1::StoredBenchmark* benchmark = to->mutable_benchmark();
    if (body.benchmark != nullptr) WriteBenchmark(*body.benchmark, benchmark);
    benchmark->set_by(body.by);
  }
  void operator()(const RunCheckpoint& body) {
    to->mutable_checkpoint()->set_engine_version(body.engine_version);
    to->mutable_checkpoint()->set_state(body.state);
  }
  void operator()(const RecordsEnded& body) {
    v1::StoredRecordsEnded* ended = to->mutable_records_ended();
    ended->set_how(static_cast<uint32_t>(body.how));
    if (body.end) WriteProgramEnd(*body.end, ended->mutable_end());
    if (!body.gave_up) return;
    ended->mutable_gave_up()->set_words(body.gave_up->words);
    ended->mutable_gave_up()->set_grown(body.gave_up->grown);
    if (body.gave_up->over) {
      ended->mutable_gave_up()->set_over(
          static_cast<uint32_t>(*body.gave_up->over));
    }
  }
};

// False: no duration that could have been set.
bool ReadDuration(bool set, int64_t us, Duration* to) {
  if (!set) return true;
  *to = Duration(us);
  return us >= 0 && *to <= kNever;
}

Verdict ReadOptions(const v1::StoredEngineOptions& from, EngineOptions* to) {
  const bool durations =
      ReadDuration(from.has_alert_hold_us(), from.alert_hold_us(),
                   &to->alert.hold) &&
      ReadDuration(from.has_alert_reopen_within_us(),
                   from.alert_reopen_within_us(), &to->alert.reopen_within) &&
      ReadDuration(from.has_lost_run_closes_after_us(),
                   from.lost_run_closes_after_us(),
                   &to->lost_run_closes_after) &&
      ReadDuration(from.has_ended_run_leaves_after_us(),
                   from.ended_run_leaves_after_us(),
                   &to->ended_run_leaves_after);
  if (from.has_alert_flaps_after()) {
    to->alert.flaps_after = from.alert_flaps_after();
  }
  const bool severity =
      from.stop_on() <= static_cast<uint32_t>(Severity::kCritical);
  if (!durations || !severity) {
    return Complaint{"settings that nobody could have made", ""};
  }
  to->stop_on = static_cast<Severity>(from.stop_on());
  to->masked_ops.assign(from.masked_ops().begin(), from.masked_ops().end());
  if (from.has_times_are_real()) to->times_are_real = from.times_are_real();
  return std::nullopt;
}

Verdict ReadRules(const v1::StoredRules& from, RulesLoaded* to) {
  for (const v1::StoredRules::Rule& rule : from.rules()) {
    to->rules.rules[rule.name()] = {
        rule.enabled(), {rule.thresholds().begin(), rule.thresholds().end()}};
  }
  return ReadOptions(from.engine(), &to->engine);
}

Verdict ReadRecordsEnded(const v1::StoredRecordsEnded& from, RecordsEnded* to) {
  if (from.how() < kRecordsEndedHows) {
    to->how = static_cast<RecordsEnded::How>(from.how());
  }
  if (from.has_end()) {
    if (Verdict w = ReadProgramEnd(from.end(), &to->end.emplace())) return w;
  }
  if (!from.has_gave_up()) return std::nullopt;
  GaveUp& gave_up = to->gave_up.emplace();
  gave_up.words = from.gave_up().words();
  gave_up.grown = from.gave_up().grown();
  if (!from.gave_up().has_over()) return std::nullopt;
  if (from.gave_up().over() >= kStepFields) {
    return Complaint{
        "a program that gave up over a number that this version "
        "does not know",
        ""};
  }
  gave_up.over = static_cast<StepField>(from.gave_up().over());
  return std::nullopt;
}

// Returns whether all ranks closed in order; histories of 0.1.0 say so in words
// alone.
bool InOrder(const v1::StoredReason& closed) {
  return closed.has_in_order() ? closed.in_order()
                               : closed.reason() == "all ranks closed";
}

Verdict ReadAnnotation(const v1::StoredAnnotation& from, Annotation* to) {
  if (from.kind() > static_cast<uint32_t>(Annotation::Kind::kStopRequest)) {
    return Complaint{fmt::format("an annotation of kind {}, which this version "
                                 "does not know",
                                 from.kind()),
                     ""};
  }
  to->kind = static_cast<Annotation::Kind>(from.kind());
  to->incident = from.incident();
  to->rule = RuleIdOf(from.rule());
  if (from.rule() != 0 && to->rule == RuleId::kNone) {
    return Complaint{fmt::format("an annotation of rule {}, which no version "
                                 "has",
                                 from.rule()),
                     ""};
  }
  to->until = FromMicros(from.until_us());
  to->by = from.by();
  to->reason = from.reason();
  return std::nullopt;
}

Verdict ReadBody(const StoredEvent& from, EventBody* to) {
  switch (from.body_case()) {
    case StoredEvent::kDaemonStarted:
      *to = DaemonStarted{from.daemon_started().engine_version(),
                          FromMicros(from.daemon_started().alive_until_us()),
                          from.daemon_started().engine_build(),
                          from.daemon_started().clock_jumped()};
      return std::nullopt;
    case StoredEvent::kRulesLoaded:
      return ReadRules(from.rules_loaded(), &to->emplace<RulesLoaded>());
    case StoredEvent::kRunOpened:
      return ReadRunOpened(from.run_opened(), &to->emplace<RunOpened>());
    case StoredEvent::kRankOpened: {
      RankOpened& opened = to->emplace<RankOpened>();
      opened.ops_known = from.rank_opened().ops_known();
      opened.clock_skew_us = from.rank_opened().clock_skew_us();
      return ReadRank(from.rank_opened().rank(), INT32_MAX, &opened.rank);
    }
    case StoredEvent::kOpNames:
      return ReadOpNames(from.op_names(), &to->emplace<OpNamesAdded>().names);
    case StoredEvent::kSteps:
      return ReadSteps(from.steps(), &to->emplace<StepBatch>().columns);
    case StoredEvent::kOps:
      return ReadOps(from.ops(), nullptr, &to->emplace<OpBatch>().columns);
    case StoredEvent::kDropped:
      *to = Dropped{from.dropped().steps(), from.dropped().ops(),
                    from.dropped().first_step(), from.dropped().last_step()};
      return std::nullopt;
    case StoredEvent::kRankLost:
      *to = RankLost{from.rank_lost().reason()};
      return std::nullopt;
    case StoredEvent::kRankClosed:
      *to = RankClosed{};
      return std::nullopt;
    case StoredEvent::kRunClosed:
      *to = RunClosed{from.run_closed().reason(), InOrder(from.run_closed())};
      return std::nullopt;
    case StoredEvent::kAnnotation:
      return ReadAnnotation(from.annotation(), &to->emplace<Annotation>());
    case StoredEvent::kCheckpoint:
      *to = RunCheckpoint{from.checkpoint().engine_version(),
                          from.checkpoint().state()};
      return std::nullopt;
    case StoredEvent::kRecordsEnded:
      return ReadRecordsEnded(from.records_ended(),
                              &to->emplace<RecordsEnded>());
    case StoredEvent::kBenchmark: {
      auto& set = to->emplace<BenchmarkSet>();
      set.by = from.benchmark().by();
      return ReadBenchmark(from.benchmark(), &set.benchmark);
    }
    case StoredEvent::BODY_NOT_SET:
      break;
  }
  return Complaint{"an event of a kind that this version does not know", ""};
}

}  // namespace

void EncodeEvent(const Event& event, std::string* out, Floats floats) {
  ScratchArena arena;
  StoredEvent* to = arena.Create<StoredEvent>();
  to->set_run_id(event.run.run_id);
  to->set_attempt(event.run.attempt);
  to->set_rank(event.rank);
  to->set_session_name(event.session);
  to->set_sequence(event.sequence);
  std::visit(BodyWriter{to}, event.body);
  if (floats == Floats::kNarrow && to->has_steps()) NarrowColumns(to);
  out->clear();
  to->AppendToString(out);
}

Result<Event> DecodeEvent(std::string_view bytes) {
  ScratchArena arena;
  StoredEvent* from = arena.Create<StoredEvent>();
  if (bytes.size() > INT32_MAX ||
      !from->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error{
        fmt::format("{} stored bytes are not an event: damaged", bytes.size())};
  }
  Event event;
  event.run = {from->run_id(), from->attempt()};
  event.rank = from->rank();
  event.session = from->session_name() != 0 ? from->session_name()
                                            : SessionName(from->session());
  event.sequence = from->sequence();
  Verdict wrong = WidenColumns(from);
  if (!wrong) wrong = ReadBody(*from, &event.body);
  if (wrong) {
    return Error{fmt::format("a stored event of run {} attempt {} rank {}: {}",
                             event.run.run_id, event.run.attempt, event.rank,
                             wrong->message)};
  }
  return event;
}

}  // namespace nanwatch
