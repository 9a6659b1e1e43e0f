#include "tests/unit/engine/driver.h"

#include <utility>

#include "detect/all_rules.h"

namespace nanwatch {
namespace {

template <typename Get>
std::optional<Column> MakeColumn(const std::vector<Row>& rows, Get get) {
  Column column;
  bool any = false;
  column.absent.assign((rows.size() + 7) / 8, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::optional<double> value = get(rows[i]);
    column.values.push_back(value.value_or(0));
    any |= value.has_value();
    if (!value) column.absent[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
  }
  return any ? std::optional(column) : std::nullopt;
}

template <typename Get>
std::optional<FlagColumn> MakeFlags(const std::vector<Row>& rows, Get get) {
  FlagColumn column;
  bool any = false;
  column.values.assign((rows.size() + 7) / 8, 0);
  column.absent = column.values;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::optional<bool> value = get(rows[i]);
    any |= value.has_value();
    const auto bit = static_cast<uint8_t>(1u << (i % 8));
    if (!value) column.absent[i / 8] |= bit;
    if (value.value_or(false)) column.values[i / 8] |= bit;
  }
  return any ? std::optional(column) : std::nullopt;
}

void Count(std::optional<SparseCounts>* column, uint32_t row, uint64_t count) {
  if (!*column) column->emplace();
  if (count == 0) return;
  (*column)->rows.push_back(row);
  (*column)->counts.push_back(count);
}

// Statistics that any cell has; the cells that lack one are absent there.
void AddStats(const std::vector<OpCell>& cells, OpColumns* columns) {
  for (int s = 0; s < kOpStats; ++s) {
    OpStatColumn column;
    column.absent.assign((cells.size() + 7) / 8, 0);
    bool any = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::optional<float> value = cells[i].more[s];
      column.values.push_back(value.value_or(0));
      any |= value.has_value();
      if (!value) column.absent[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
    }
    if (any) columns->stat[s] = std::move(column);
  }
  auto& zero = columns->count[static_cast<int>(OpCount::kZero)];
  if (!zero) return;
  zero->absent.assign((cells.size() + 7) / 8, 0);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].zero) {
      zero->absent[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
    }
  }
}

}  // namespace

StepColumns Columns(const std::vector<Row>& rows, Time time) {
  StepColumns columns;
  for (const Row& row : rows) {
    columns.step.push_back(row.step);
    columns.time.push_back(row.time == Time{} ? time : row.time);
    for (const auto& [op, scale] : row.layers) {
      columns.layer_scales.push_back(
          {.row = static_cast<uint32_t>(columns.step.size() - 1),
           .op = op,
           .scale = scale});
    }
    const auto at = static_cast<uint32_t>(columns.step.size() - 1);
    if (row.fault != UpdateFault::kNone || row.stuck) {
      columns.update_facts.push_back({at, row.fault, row.stuck});
    }
    if (row.samples) {
      columns.samples.push_back({at, row.samples->first, row.samples->last});
    }
    if (row.batch) columns.batch_digests.push_back({at, *row.batch});
  }
  const auto field = [&](StepField f) -> std::optional<Column>& {
    return columns.field[static_cast<int>(f)];
  };
  const auto flag = [&](StepFlag f) -> std::optional<FlagColumn>& {
    return columns.flag[static_cast<int>(f)];
  };
  field(StepField::kLossScale) =
      MakeColumn(rows, [](const Row& r) { return r.scale; });
  field(StepField::kLoss) =
      MakeColumn(rows, [](const Row& r) { return r.loss; });
  field(StepField::kGradNorm) =
      MakeColumn(rows, [](const Row& r) { return r.grad_norm; });
  for (int f = 0; f < kStepFields; ++f) {
    if (columns.field[f]) continue;
    columns.field[f] =
        MakeColumn(rows, [f](const Row& r) { return r.more[f]; });
  }
  bool digests = !rows.empty();
  for (const Row& row : rows) digests = digests && row.digest;
  for (const Row& row : rows) {
    if (digests) columns.replica_digest.push_back(*row.digest);
  }
  flag(StepFlag::kOverflow) =
      MakeFlags(rows, [](const Row& r) { return r.overflow; });
  flag(StepFlag::kSkipped) =
      MakeFlags(rows, [](const Row& r) { return r.skipped; });
  return columns;
}

OpColumns OpRows(const std::vector<OpCell>& cells, Time time) {
  OpColumns columns;
  auto& abs_max = columns.stat[static_cast<int>(OpStat::kAbsMax)].emplace();
  for (const OpCell& cell : cells) {
    const auto row = static_cast<uint32_t>(columns.rows());
    columns.AddGroup(cell.step, time);
    columns.op.push_back(cell.op);
    columns.slot.push_back(cell.slot);
    columns.elements.push_back(cell.elements);
    Count(&columns.count[static_cast<int>(OpCount::kNan)], row, cell.nan);
    Count(&columns.count[static_cast<int>(OpCount::kPosInf)], row, cell.inf);
    Count(&columns.count[static_cast<int>(OpCount::kNegInf)], row,
          cell.neg_inf);
    Count(&columns.count[static_cast<int>(OpCount::kSaturated)], row,
          cell.saturated);
    Count(&columns.device_flag, row, cell.flag ? 1 : 0);
    abs_max.values.push_back(cell.abs_max);
    if (cell.zero) {
      Count(&columns.count[static_cast<int>(OpCount::kZero)], row, *cell.zero);
    }
  }
  AddStats(cells, &columns);
  return columns;
}

Driver::Driver() : engine_(std::make_unique<Engine>()) {}

Driver::Driver(const EngineOptions& options) : Driver() {
  Say({}, RulesLoaded{DefaultRules(), options});
}

void Driver::Wait(Duration duration) {
  now_ += duration;
  alive_until_ = now_;
  engine_->Advance(now_, &effects_);
}

Admitted Driver::Send(ClientMessage message) {
  Admitted admitted = engine_->Admit(
      now_, std::move(message), "fresh-" + std::to_string(history_.size()));
  for (const Event& event : admitted.events) Apply(event);
  return admitted;
}

void Driver::Apply(Event event) {
  alive_until_ = now_;
  engine_->Apply(now_, event, &effects_);
  history_.push_back({history_.size() + 1, now_, std::move(event)});
}

void Driver::Say(RunKey run, EventBody body) {
  Event event;
  event.run = std::move(run);
  event.body = std::move(body);
  Apply(std::move(event));
}

SessionId Driver::Open(OpenSessionMessage message) {
  if (message.session == 0) message.session = next_session_++;
  const SessionId session = message.session;
  if (message.client_time == Time{}) message.client_time = now_;
  Admitted admitted = Send({.session = session, .body = std::move(message)});
  if (admitted.opened) {
    last_opened = *admitted.opened;
    sequences_[session] = last_opened.held_sequence;
  }
  return session;
}

SessionId Driver::Open(const std::string& run_id, int32_t rank, int world) {
  OpenSessionMessage message;
  message.run_id = run_id;
  message.run.world_size = world;
  message.rank.rank = rank;
  message.rank.place.dp = rank;
  message.rank.host = "node-" + std::to_string(rank / 8);
  message.rank.device = "npu" + std::to_string(rank % 8);
  return Open(std::move(message));
}

Admitted Driver::Steps(SessionId session, const std::vector<Row>& rows) {
  return Batch(session, Columns(rows, now_));
}

Admitted Driver::Batch(SessionId session, StepColumns columns) {
  return Send({.session = session,
               .sequence = ++sequences_[session],
               .sent = now_,
               .body = StepBatch{std::move(columns)}});
}

Admitted Driver::Ops(SessionId session, const std::vector<OpCell>& cells) {
  return Send({.session = session,
               .sequence = ++sequences_[session],
               .sent = now_,
               .body = OpBatch{OpRows(cells, now_)}});
}

Admitted Driver::Name(SessionId session, const std::vector<OpName>& ops,
                      uint32_t first) {
  return Send({.session = session,
               .sequence = ++sequences_[session],
               .body = OpNamesAdded{{.first_index = first, .ops = ops}}});
}

Admitted Driver::Close(SessionId session,
                       const std::optional<ProgramEnd>& end) {
  return Send({.session = session,
               .sequence = ++sequences_[session],
               .body = CloseMessage{end}});
}

void Driver::Lose(SessionId session) {
  for (Event& event : engine_->Lose(session, "the stream ended")) {
    Apply(std::move(event));
  }
}

std::vector<RunKey> Driver::TakeClosing() {
  const std::vector<RunKey> taken(effects_.close.begin() + closing_taken_,
                                  effects_.close.end());
  closing_taken_ = effects_.close.size();
  return taken;
}

std::shared_ptr<const Snapshot> Driver::Publish() {
  snapshot_ = engine_->Publish(now_, history_.size(), *snapshot_);
  return snapshot_;
}

std::shared_ptr<const RunView> Driver::Run(const std::string& run_id,
                                           std::optional<int32_t> attempt) {
  return Publish()->Find(run_id, attempt);
}

std::vector<std::string> Firing(const RunView& run) {
  std::vector<std::string> rules;
  for (const Incident& incident : run.incidents) {
    if (incident.state != AlertState::kFiring) continue;
    const RuleSpec* spec = FindRule(incident.rule);
    rules.push_back(spec == nullptr ? std::to_string(NumberOf(incident.rule))
                                    : std::string(spec->name));
  }
  return rules;
}

}  // namespace nanwatch
