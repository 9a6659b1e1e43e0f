#include "tests/judge/hearing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/diagnosis.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

constexpr const char* kRunId = "run";

RunDescription Describe(const generate::Setup& setup) {
  constexpr ScalingKind kKinds[] = {ScalingKind::kUnknown, ScalingKind::kNone,
                                    ScalingKind::kStatic,
                                    ScalingKind::kDynamic};
  RunDescription run;
  run.world_size = setup.ranks;
  run.framework = setup.framework;
  run.precision = setup.precision;
  run.overflow_mode =
      setup.saturation ? OverflowMode::kSaturation : OverflowMode::kInfNan;
  run.scaler.kind = kKinds[static_cast<int>(setup.scaling)];
  run.scaler.name = setup.scaler;
  run.scaler.init_scale = setup.init_scale;
  run.scaler.growth_interval = setup.growth_interval;
  run.scaler.hysteresis = setup.hysteresis;
  run.scaler.overflow_check = setup.overflow_check;
  return run;
}

std::vector<OpName> Names(const generate::Setup& setup) {
  std::vector<OpName> names;
  for (const generate::Op& op : setup.ops) {
    OpName& name = names.emplace_back();
    name.name = op.name;
    name.type = op.type;
    name.dtype = op.fp8 ? Dtype::kFp8E4M3 : Dtype::kFp16;
    name.logical_shape = {op.elements};
    if (op.stored > 0) name.storage_shape = {op.stored};
    name.order = static_cast<int32_t>(names.size()) - 1;
  }
  return names;
}

Row RowOf(const generate::Update& a, Time time) {
  Row row;
  row.step = a.step;
  row.scale = a.scale;
  row.loss = a.loss;
  row.grad_norm = a.grad_norm;
  row.overflow = a.overflow;
  row.skipped = a.skipped;
  row.digest = a.digest;
  row.time = time;
  const auto more = [&](StepField f, const std::optional<double>& value) {
    row.more[static_cast<size_t>(f)] = value;
  };
  more(StepField::kUpdateNorm, a.update_norm);
  more(StepField::kParamNorm, a.param_norm);
  more(StepField::kLearningRate, a.learning_rate);
  more(StepField::kUnderflowFraction, a.underflow_fraction);
  return row;
}

OpCell CellOf(const generate::Status& s, int64_t step) {
  constexpr Slot kSlotOf[] = {Slot::kInput, Slot::kOutput, Slot::kGradOutput,
                              Slot::kCollective};
  OpCell cell;
  cell.step = step;
  cell.op = static_cast<uint32_t>(s.op);
  cell.slot = kSlotOf[static_cast<int>(s.tensor)];
  cell.elements = s.elements;
  cell.nan = s.nan;
  cell.inf = s.inf;
  cell.saturated = s.saturated;
  cell.flag = s.device_flag;
  cell.abs_max = s.abs_max;
  const auto more = [&](OpStat stat, const std::optional<float>& value) {
    cell.more[static_cast<size_t>(stat)] = value;
  };
  more(OpStat::kLog2Mean, s.log2_mean);
  more(OpStat::kLog2Std, s.log2_std);
  more(OpStat::kFp8Amax, s.fp8_amax);
  more(OpStat::kFp8ScaleInv, s.fp8_scale_inv);
  return cell;
}

class Hearing {
 public:
  explicit Hearing(const generate::Story& story) : story_(story) {
    ranks_.resize(static_cast<size_t>(story.setup.ranks));
    Open();
  }

  void Take(const generate::Moment& moment) {
    if (moment.restart) {
      Send();
      for (Rank& rank : ranks_) Say(rank, CloseMessage{});
      Open();
    }
    due_ += Duration(static_cast<int64_t>(moment.seconds * 1e6));
    for (const generate::Status& status : moment.statuses) {
      ranks_[0].cells.push_back(CellOf(status, moment.updates[0].step));
    }
    for (const generate::Update& update : moment.updates) {
      Rank& rank = ranks_[static_cast<size_t>(update.rank)];
      rank.rows.push_back(RowOf(update, driver_.now() + due_));
      rank.optimizers.push_back(static_cast<uint8_t>(update.optimizer));
      ++heard_.updates;
    }
  }

  // Time passes, and all that was taken is heard.
  void Send() {
    driver_.Wait(std::exchange(due_, Duration::zero()));
    for (Rank& rank : ranks_) {
      if (!rank.cells.empty()) {
        Say(rank, OpBatch{OpRows(rank.cells, driver_.now())});
      }
      if (!rank.rows.empty()) {
        StepColumns columns = Columns(rank.rows, driver_.now());
        if (!story_.setup.optimizers.empty()) {
          columns.optimizers = story_.setup.optimizers;
          columns.optimizer = rank.optimizers;
        }
        Say(rank, StepBatch{std::move(columns)});
      }
      rank.rows.clear();
      rank.cells.clear();
      rank.optimizers.clear();
    }
  }

  void NoteNotices(size_t moment) {
    const auto& notices = driver_.effects().notices;
    for (; noted_ < notices.size(); ++noted_) {
      Note(notices[noted_].incident, moment);
    }
  }

  void NoteCauses() {
    heard_.causes.clear();
    for (const CauseVerdict& cause : driver_.Run(kRunId)->diagnosis.causes) {
      heard_.causes.emplace_back(Name(cause.cause));
    }
  }

  Heard Finish() {
    driver_.Wait(std::chrono::seconds(5));
    NoteNotices(story_.moments.size());
    return std::move(heard_);
  }

 private:
  struct Rank {
    SessionId session = 0;
    Sequence sequence = 0;
    std::vector<Row> rows;
    std::vector<uint8_t> optimizers;
    std::vector<OpCell> cells;
  };

  void Open() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      OpenSessionMessage open;
      open.run_id = kRunId;
      open.run = Describe(story_.setup);
      open.rank.rank = open.rank.place.dp = static_cast<int32_t>(i);
      rank.session = driver_.Open(open);
      rank.sequence = 0;
      if (i == 0 && !story_.setup.ops.empty()) {
        Say(rank, OpNamesAdded{{.ops = Names(story_.setup)}});
      }
    }
  }

  template <typename Body>
  void Say(Rank& rank, Body body) {
    driver_.Send({.session = rank.session,
                  .sequence = ++rank.sequence,
                  .sent = driver_.now(),
                  .body = std::move(body)});
  }

  void Note(const Incident& incident, size_t moment) {
    auto at = std::find_if(heard_.told.begin(), heard_.told.end(),
                           [&](const Told& t) { return t.id == incident.id; });
    if (at == heard_.told.end()) {
      at = heard_.told.insert(at, {.id = incident.id, .moment = moment});
    }
    at->rule = incident.rule;
    if (incident.state == AlertState::kFiring) {
      at->cause = Name(incident.cause);
    }
    if (incident.worst > at->worst) {
      if (at->worst < Severity::kWarning && incident.worst > Severity::kInfo) {
        at->warned = moment;
      }
      at->worst = incident.worst;
      at->summary = incident.summary;
    }
  }

  const generate::Story& story_;
  Driver driver_;
  std::vector<Rank> ranks_;
  Duration due_{};
  size_t noted_ = 0;
  Heard heard_;
};

}  // namespace

Heard Hear(const generate::Story& story, size_t together) {
  Hearing hearing(story);
  for (size_t i = 0; i < story.moments.size(); ++i) {
    hearing.Take(story.moments[i]);
    const bool last = i + 1 == story.moments.size();
    if ((i + 1) % together != 0 && i != story.look_at && !last) continue;
    hearing.Send();
    hearing.NoteNotices(i);
    if (i == story.look_at) hearing.NoteCauses();
  }
  return hearing.Finish();
}

int Warnings(const Heard& heard, size_t from, size_t to) {
  return static_cast<int>(
      std::count_if(heard.told.begin(), heard.told.end(), [&](const Told& t) {
        return t.worst >= Severity::kWarning && t.warned >= from &&
               t.warned < to;
      }));
}

}  // namespace nanwatch
