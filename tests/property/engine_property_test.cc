// The one idea, as properties: the engine is a function of (now, event).

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/step_slice.h"
#include "tests/property/training.h"
#include "tests/unit/engine/dump.h"

namespace nanwatch {
namespace {

constexpr uint64_t kSeeds = 12;

// What is left when all events were applied and `now` has come.
struct Outcome {
  std::string snapshot;
  std::string effects;
};

Outcome Finish(Engine* engine, Time now, Effects* effects,
               const Snapshot& base = {}) {
  engine->Advance(now, effects);
  return {Dump(*engine->Publish(now, 0, base)), Dump(*effects)};
}

Outcome Replay(const std::vector<StampedEvent>& history, Time now) {
  Engine engine;
  Effects effects;
  for (const StampedEvent& e : history) {
    engine.Apply(e.now, e.event, &effects);
  }
  return Finish(&engine, now, &effects);
}

class EngineProperty : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    RecordProperty("seed", static_cast<int>(GetParam()));
    Train(GetParam(), /*runs=*/3, /*ranks=*/3, /*turns=*/400, &driver_);
    driver_.Wait(std::chrono::seconds(90));
  }
  std::string Seed() const { return "seed " + std::to_string(GetParam()); }
  Driver driver_;
};

TEST_P(EngineProperty, SomethingHappens) {
  const std::string dump = Dump(*driver_.Publish());
  EXPECT_THAT(dump, ::testing::HasSubstr("incident")) << Seed();
  EXPECT_GT(driver_.effects().notices.size(), 3u) << Seed();
}

TEST_P(EngineProperty, ReplayIsAsLive) {
  const Outcome replayed = Replay(driver_.history(), driver_.now());
  EXPECT_EQ(Dump(*driver_.Publish()), replayed.snapshot) << Seed();
  EXPECT_EQ(Dump(driver_.effects()), replayed.effects) << Seed();
}

TEST_P(EngineProperty, CheckpointAndTheRestIsFullReplay) {
  Random random(GetParam());
  const auto& history = driver_.history();
  for (int cut = 0; cut < 8; ++cut) {
    const size_t at = Below(random, history.size());
    Engine full({});
    Effects before;
    for (size_t i = 0; i <= at; ++i) {
      full.Apply(history[i].now, history[i].event, &before);
    }
    Engine restarted({});
    Effects none;
    std::vector<RunKey> runs;
    const auto seen = full.Publish(history[at].now, 0, Snapshot{});
    seen->runs.ForEach([&](const RunView& run) { runs.push_back(run.key); });
    for (const RunKey& run : runs) {
      restarted.Apply(history[at].now, *full.Checkpoint(run), &none);
    }
    ASSERT_EQ(restarted.stats().unusable_checkpoints, 0u) << Seed();
    Effects rest, rest_restarted;
    for (size_t i = at + 1; i < history.size(); ++i) {
      full.Apply(history[i].now, history[i].event, &rest);
      restarted.Apply(history[i].now, history[i].event, &rest_restarted);
    }
    const Outcome a = Finish(&full, driver_.now(), &rest, *seen);
    const Outcome b = Finish(&restarted, driver_.now(), &rest_restarted);
    ASSERT_EQ(a.snapshot, b.snapshot) << Seed() << ", cut after event " << at;
    ASSERT_EQ(a.effects, b.effects) << Seed() << ", cut after event " << at;
  }
}

TEST_P(EngineProperty, DamagedCheckpointChangesNothing) {
  Random random(GetParam());
  RunKey any;
  driver_.Publish()->runs.ForEach([&](const RunView& run) { any = run.key; });
  Event event = *driver_.engine().Checkpoint(any);
  std::string& state = std::get<RunCheckpoint>(event.body).state;
  const std::string whole = state;
  const std::string before = Dump(*driver_.Publish());
  for (int round = 0; round < 100; ++round) {
    state = whole;
    if (round % 2 == 0) {
      state.resize(Below(random, state.size()));
    } else {
      state[Below(random, state.size())] ^= 1 << Below(random, 8);
    }
    driver_.Apply(event);
  }
  EXPECT_EQ(driver_.engine().stats().unusable_checkpoints, 100u) << Seed();
  EXPECT_EQ(Dump(*driver_.Publish()), before) << Seed();
}

// Rows [from, to) of a batch of op statuses.
OpColumns SliceOps(const OpColumns& all, size_t from, size_t to) {
  OpColumns part;
  const auto slice = [&](const auto& v) {
    return std::decay_t<decltype(v)>(v.begin() + from, v.begin() + to);
  };
  const auto sparse = [&](const std::optional<SparseCounts>& column) {
    std::optional<SparseCounts> cut;
    if (!column) return cut;
    cut.emplace();
    for (size_t i = 0; i < column->rows.size(); ++i) {
      if (column->rows[i] < from || column->rows[i] >= to) continue;
      cut->rows.push_back(column->rows[i] - static_cast<uint32_t>(from));
      cut->counts.push_back(column->counts[i]);
    }
    return cut;
  };
  for (size_t row = from; row < to; ++row) {
    const OpGroup& group = all.GroupOf(row);
    part.AddGroup(group.step, group.time);
  }
  part.op = slice(all.op);
  part.slot = slice(all.slot);
  part.elements = slice(all.elements);
  for (int c = 0; c < kOpCounts; ++c) part.count[c] = sparse(all.count[c]);
  part.device_flag = sparse(all.device_flag);
  for (int s = 0; s < kOpStats; ++s) {
    if (all.stat[s]) part.stat[s] = OpStatColumn{slice(all.stat[s]->values)};
  }
  return part;
}

// Each batch cut anywhere, with the same times inside.
std::vector<StampedEvent> Rebatch(const std::vector<StampedEvent>& history,
                                  Random& random) {
  std::vector<StampedEvent> cut;
  for (const StampedEvent& e : history) {
    const auto* steps = std::get_if<StepBatch>(&e.event.body);
    const auto* ops = std::get_if<OpBatch>(&e.event.body);
    const size_t rows = steps != nullptr ? steps->columns.rows()
                        : ops != nullptr ? ops->columns.rows()
                                         : 0;
    if (rows == 0) {
      cut.push_back(e);
      continue;
    }
    for (size_t from = 0; from < rows;) {
      const size_t to = std::min(rows, from + 1 + Below(random, 9));
      StampedEvent part = e;
      if (steps != nullptr) {
        part.event.body = StepBatch{SliceRows(steps->columns, from, to)};
      } else {
        part.event.body = OpBatch{SliceOps(ops->columns, from, to)};
      }
      cut.push_back(std::move(part));
      from = to;
    }
  }
  return cut;
}

TEST_P(EngineProperty, BatchingDecidesNothing) {
  Random random(GetParam());
  const Outcome whole = Replay(driver_.history(), driver_.now());
  for (int round = 0; round < 3; ++round) {
    const Outcome cut =
        Replay(Rebatch(driver_.history(), random), driver_.now());
    ASSERT_EQ(whole.snapshot, cut.snapshot) << Seed() << ", round " << round;
    ASSERT_EQ(whole.effects, cut.effects) << Seed() << ", round " << round;
  }
}

// Records of one run's ranks, one event each, with times of their own.
std::vector<std::vector<Event>> RankStreams(uint64_t seed, int ranks,
                                            int steps) {
  std::vector<std::vector<Event>> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    // Mostly the same numbers; one rank goes its own way.
    Trainer trainer(rank == ranks - 1 ? seed + 1000 : seed);
    std::vector<Event>& stream = streams.emplace_back();
    for (int i = 0; i < steps; ++i) {
      Event event;
      event.run = {"job", 0};
      event.rank = rank;
      event.session = static_cast<SessionId>(rank + 1);
      const Row row = trainer.Next();
      const Time time = kStart + std::chrono::seconds(i);
      event.body = StepBatch{Columns({row}, time)};
      stream.push_back(std::move(event));
    }
  }
  return streams;
}

struct Seen {
  std::string findings;                   // in the end
  std::set<std::string> names;            // of what is not resolved then
  std::map<uint64_t, std::string> by_id;  // the newest name of each incident
};

// Ranks take turns at random, none more than `lead` records before another.
Seen Interleaved(const std::vector<std::vector<Event>>& streams, size_t lead,
                 Random& random) {
  Driver driver;
  Seen seen;
  const int ranks = static_cast<int>(streams.size());
  for (int rank = 0; rank < ranks; ++rank) driver.Open("job", rank, ranks);
  driver.Sleep(std::chrono::hours(1));
  std::vector<size_t> at(streams.size());
  while (true) {
    const size_t slowest = *std::min_element(at.begin(), at.end());
    if (slowest == *std::max_element(at.begin(), at.end())) {
      for (const Incident& incident : driver.Run("job")->incidents) {
        seen.by_id[incident.id] = DumpName(incident);
      }
    }
    if (slowest == streams[0].size()) break;
    const size_t r = Below(random, at.size());
    if (at[r] == streams[r].size() || at[r] >= slowest + lead) continue;
    driver.Apply(streams[r][at[r]++]);
  }
  // What is over resolves when its hold has passed.
  driver.Wait(std::chrono::seconds(90));
  const auto run = driver.Run("job");
  seen.findings = DumpFindings(*run);
  for (const Incident& incident : run->incidents) {
    if (incident.state == AlertState::kResolved) continue;
    seen.names.insert(DumpName(incident));
  }
  return seen;
}

TEST_P(EngineProperty, InterleavingOfRanksDecidesNothing) {
  Random random(GetParam());
  const auto streams = RankStreams(GetParam(), 4, 120);
  const Seen together = Interleaved(streams, 1, random);
  for (int round = 0; round < 3; ++round) {
    const Seen apart = Interleaved(streams, 32, random);
    ASSERT_EQ(together.findings, apart.findings)
        << Seed() << ", round " << round;
    ASSERT_EQ(together.names, apart.names) << Seed() << ", round " << round;
  }
}

// Which of the ranks is heard first of a step changes no name and no id.
TEST_P(EngineProperty, OrderOfRanksWithinAStepDecidesNothing) {
  Random random(GetParam());
  const auto streams = RankStreams(GetParam(), 4, 120);
  const Seen once = Interleaved(streams, 1, random);
  EXPECT_GT(once.by_id.size(), 1u) << Seed();
  for (int round = 0; round < 5; ++round) {
    const Seen again = Interleaved(streams, 1, random);
    ASSERT_EQ(once.findings, again.findings) << Seed() << ", round " << round;
    ASSERT_EQ(once.by_id, again.by_id) << Seed() << ", round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineProperty,
                         ::testing::Range<uint64_t>(1, kSeeds + 1));

}  // namespace
}  // namespace nanwatch
