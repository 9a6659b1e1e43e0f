#include "tests/property/training.h"

#include <cmath>
#include <string>

namespace nanwatch {
namespace {

constexpr int kOps = 6;

std::vector<OpName> Names() {
  std::vector<OpName> names;
  for (int op = 0; op < kOps; ++op) {
    OpName& name = names.emplace_back();
    name.name = "layer." + std::to_string(op);
    name.type = op == 3 ? "Log" : "Linear";
    name.dtype = Dtype::kFp16;
    name.logical_shape = {1000};
    if (op == 3) name.storage_shape = {1024};
    name.order = op;
  }
  return names;
}

}  // namespace

Row Trainer::Next() {
  if (left_-- <= 0) {
    left_ = static_cast<int>(5 + Below(random_, 40));
    mood_ = static_cast<Mood>(Below(random_, 4));
    if (Chance(random_, 40)) mood_ = Mood::kGood;
  }
  Row row;
  // A step that overflowed may be tried again under its number.
  const bool again = mood_ == Mood::kOverflows && Chance(random_, 20);
  if (!again || step_ == 0) ++step_;
  row.step = step_;
  row.scale = scale_;
  const bool overflow =
      mood_ == Mood::kOverflows || mood_ == Mood::kNan || Chance(random_, 1);
  row.overflow = overflow;
  row.skipped = overflow;
  row.loss = mood_ == Mood::kNan ? NAN : 2.0 + 0.01 * Below(random_, 10);
  if (!Chance(random_, 5)) {
    row.grad_norm = overflow ? INFINITY : 0.5 + 0.01 * Below(random_, 20);
  }
  if (mood_ == Mood::kNear) {
    row.layers = {{0, 1024}, {2, step_ % 7 == 0 ? 0 : 0.25}};
  }
  if (overflow) {
    scale_ /= 2;
    good_ = 0;
  } else if (++good_ == 20) {
    scale_ *= 2;
    good_ = 0;
  }
  return row;
}

std::vector<OpCell> Trainer::Ops(int ops) {
  std::vector<OpCell> cells;
  for (int op = 0; op < ops; ++op) {
    OpCell cell;
    cell.step = step_;
    cell.op = static_cast<uint32_t>(op);
    cell.elements = op == 3 ? 1024 : 1000;
    if (mood_ == Mood::kOverflows && op >= 3) cell.inf = op == 3 ? 24 : 1;
    if (mood_ == Mood::kNan && op >= 1) cell.nan = 1 + Below(random_, 9);
    if (mood_ == Mood::kNear && op == 2) cell.abs_max = 60000;
    OpCell input = cell;
    input.slot = Slot::kInput;
    if (op == 1 || op == 3) input.nan = input.inf = 0;
    cells.push_back(input);
    cells.push_back(cell);
  }
  return cells;
}

void Train(uint64_t seed, int runs, int ranks, int turns, Driver* driver) {
  Random random(seed);
  struct Process {
    std::string run;
    int rank;
    SessionId session = 0;
    Trainer trainer;
  };
  std::vector<Process> all;
  for (int run = 0; run < runs; ++run) {
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back({"run-" + std::to_string(run), rank, 0, Trainer(random())});
    }
  }
  for (int turn = 0; turn < turns; ++turn) {
    Process& p = all[Below(random, all.size())];
    if (p.session == 0) {
      p.session = driver->Open(p.run, p.rank, ranks);
      driver->Name(p.session, Names());
    }
    const int what = static_cast<int>(Below(random, 100));
    if (what < 80) {
      const bool with_ops = Chance(random, 50);
      std::vector<OpCell> ops;
      std::vector<Row> rows;
      for (uint64_t n = 1 + Below(random, 12); n > 0; --n) {
        rows.push_back(p.trainer.Next());
        if (!with_ops) continue;
        for (const OpCell& cell : p.trainer.Ops(kOps)) ops.push_back(cell);
      }
      if (with_ops) driver->Ops(p.session, ops);
      driver->Steps(p.session, rows);
    } else if (what < 90) {
      driver->Wait(std::chrono::milliseconds(Below(random, 9000)));
    } else if (what < 94) {
      driver->Sleep(std::chrono::milliseconds(Below(random, 9000)));
    } else if (what == 94) {
      p.trainer.GoBackTo(p.trainer.step() / 2);
    } else if (what == 95) {
      driver->Lose(p.session);
      if (Chance(random, 50)) p.session = 0;
      if (p.session != 0) {
        driver->Wait(std::chrono::seconds(3));
        OpenSessionMessage again;
        again.session = p.session;
        again.run_id = p.run;
        again.rank.rank = p.rank;
        again.rank.place.dp = p.rank;
        driver->Open(again);
      }
    } else if (what == 96) {
      driver->Close(p.session);
      p.session = 0;
    } else if (what == 97) {
      Annotation note;
      note.kind = static_cast<Annotation::Kind>(Below(random, 4));
      note.by = "ann";
      note.reason = "because";
      driver->Say({p.run, 0}, note);
    } else if (what == 98) {
      driver->Say({}, DaemonStarted{std::string(EngineVersion()),
                                    driver->alive_until()});
    } else {
      driver->Wait(std::chrono::minutes(Below(random, 20)));
    }
    for (const RunKey& lost : driver->TakeClosing()) {
      driver->Say(lost, RunClosed{"lost"});
    }
  }
}

}  // namespace nanwatch
