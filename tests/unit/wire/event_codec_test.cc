#include "wire/event_codec.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "model/limits.h"
#include "nanwatch/v1/history.pb.h"
#include "tests/unit/wire/random_event.h"

namespace nanwatch {
namespace {

Event RoundTrip(const Event& event, Floats floats = Floats::kWide) {
  std::string bytes;
  EncodeEvent(event, &bytes, floats);
  Result<Event> back = DecodeEvent(bytes);
  if (!back.ok()) {
    ADD_FAILURE() << back.error();
    return {};
  }
  return std::move(*back);
}

Event OfRank(EventBody body) {
  Event event;
  event.run = {"job-7", 3};
  event.rank = 5;
  event.session = 0xfedcba9876543210;
  event.sequence = 42;
  event.body = std::move(body);
  return event;
}

Event OfDaemon(EventBody body) {
  Event event;
  event.body = std::move(body);
  return event;
}

// Bit for bit: NaN is equal to the same NaN, 0 is not -0.
template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void ExpectSame(const StepColumns& a, const StepColumns& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.time, b.time);
  for (int f = 0; f < kStepFields; ++f) {
    ASSERT_EQ(a.field[f].has_value(), b.field[f].has_value()) << f;
    if (!a.field[f]) continue;
    EXPECT_TRUE(SameBits(a.field[f]->values, b.field[f]->values)) << f;
    EXPECT_EQ(a.field[f]->absent, b.field[f]->absent) << f;
  }
  for (int f = 0; f < kStepFlags; ++f) {
    ASSERT_EQ(a.flag[f].has_value(), b.flag[f].has_value()) << f;
    if (!a.flag[f]) continue;
    for (size_t row = 0; row < a.rows(); ++row) {
      EXPECT_EQ(TestBit(a.flag[f]->values, row),
                TestBit(b.flag[f]->values, row));
      EXPECT_EQ(TestBit(a.flag[f]->absent, row),
                TestBit(b.flag[f]->absent, row));
    }
  }
  EXPECT_EQ(a.optimizers, b.optimizers);
  EXPECT_EQ(a.optimizer, b.optimizer);
  EXPECT_EQ(a.replica_digest, b.replica_digest);
  ASSERT_EQ(a.float_status.size(), b.float_status.size());
  for (size_t i = 0; i < a.float_status.size(); ++i) {
    EXPECT_EQ(a.float_status[i].row, b.float_status[i].row);
    EXPECT_EQ(a.float_status[i].words, b.float_status[i].words);
    EXPECT_EQ(a.float_status[i].combined, b.float_status[i].combined);
  }
  ASSERT_EQ(a.layer_scales.size(), b.layer_scales.size());
  for (size_t i = 0; i < a.layer_scales.size(); ++i) {
    EXPECT_EQ(a.layer_scales[i].row, b.layer_scales[i].row);
    EXPECT_EQ(a.layer_scales[i].op, b.layer_scales[i].op);
    EXPECT_EQ(std::bit_cast<uint64_t>(a.layer_scales[i].scale),
              std::bit_cast<uint64_t>(b.layer_scales[i].scale));
  }
  ASSERT_EQ(a.update_facts.size(), b.update_facts.size());
  for (size_t i = 0; i < a.update_facts.size(); ++i) {
    EXPECT_EQ(a.update_facts[i].row, b.update_facts[i].row);
    EXPECT_EQ(a.update_facts[i].fault, b.update_facts[i].fault);
    EXPECT_EQ(a.update_facts[i].stuck, b.update_facts[i].stuck);
  }
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (size_t i = 0; i < a.samples.size(); ++i) {
    EXPECT_EQ(a.samples[i].row, b.samples[i].row);
    EXPECT_EQ(a.samples[i].first, b.samples[i].first);
    EXPECT_EQ(a.samples[i].last, b.samples[i].last);
  }
  EXPECT_EQ(a.batch_digests, b.batch_digests);
  EXPECT_EQ(a.request_id, b.request_id);
  EXPECT_EQ(a.seen, b.seen);
}

void ExpectSame(const std::optional<SparseCounts>& a,
                const std::optional<SparseCounts>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(a->rows, b->rows);
  EXPECT_EQ(a->counts, b->counts);
  EXPECT_EQ(a->absent, b->absent);
}

void ExpectSame(const OpColumns& a, const OpColumns& b) {
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.slot, b.slot);
  EXPECT_EQ(a.elements, b.elements);
  for (int c = 0; c < kOpCounts; ++c) ExpectSame(a.count[c], b.count[c]);
  for (int s = 0; s < kOpStats; ++s) {
    ASSERT_EQ(a.stat[s].has_value(), b.stat[s].has_value()) << s;
    if (!a.stat[s]) continue;
    EXPECT_TRUE(SameBits(a.stat[s]->values, b.stat[s]->values)) << s;
    EXPECT_EQ(a.stat[s]->absent, b.stat[s]->absent) << s;
  }
  ExpectSame(a.device_flag, b.device_flag);
  EXPECT_EQ(a.digest, b.digest);
  ASSERT_EQ(a.exponents.size(), b.exponents.size());
  for (size_t i = 0; i < a.exponents.size(); ++i) {
    EXPECT_EQ(a.exponents[i].row, b.exponents[i].row);
    EXPECT_EQ(a.exponents[i].first, b.exponents[i].first);
    EXPECT_EQ(a.exponents[i].counts, b.exponents[i].counts);
  }
  EXPECT_EQ(a.sketches, b.sketches);
  EXPECT_EQ(a.request_id, b.request_id);
}

TEST(EventCodecTest, KeepsWhoseEventItIs) {
  const Event back = RoundTrip(OfRank(RankClosed{}));
  EXPECT_EQ(back.run.run_id, "job-7");
  EXPECT_EQ(back.run.attempt, 3);
  EXPECT_EQ(back.rank, 5);
  EXPECT_EQ(back.session, 0xfedcba9876543210);
  EXPECT_EQ(back.sequence, 42u);
  EXPECT_TRUE(std::holds_alternative<RankClosed>(back.body));
}

TEST(EventCodecTest, KeepsAnyStepsBitForBit) {
  RandomEvents random(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    StepBatch batch{random.Steps(1 + random.Below(70))};
    for (const Floats floats : {Floats::kWide, Floats::kNarrow}) {
      const Event back = RoundTrip(OfRank(batch), floats);
      ExpectSame(batch.columns, std::get<StepBatch>(back.body).columns);
    }
  }
}

TEST(EventCodecTest, KeepsAnyOpStatusesBitForBit) {
  RandomEvents random(2);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    OpBatch batch{random.Ops(1 + random.Below(70))};
    const Event back = RoundTrip(OfRank(batch));
    ASSERT_TRUE(std::holds_alternative<OpBatch>(back.body));
    ExpectSame(batch.columns, std::get<OpBatch>(back.body).columns);
  }
}

TEST(EventCodecTest, KeepsEmptyBatches) {
  EXPECT_EQ(
      std::get<StepBatch>(RoundTrip(OfRank(StepBatch{})).body).columns.rows(),
      0u);
  EXPECT_EQ(std::get<OpBatch>(RoundTrip(OfRank(OpBatch{})).body).columns.rows(),
            0u);
}

TEST(EventCodecTest, KeepsARunsDescription) {
  RunOpened opened;
  opened.reason = "first rank";
  RunDescription& run = opened.description;
  run.job = "word2vec";
  run.framework = "ascend_tf";
  run.precision = "fp16";
  run.world_size = 8;
  run.overflow_mode = OverflowMode::kSaturation;
  run.scaler = {ScalingKind::kDynamic,
                "ascend_tf",
                65536.0,
                2.0,
                0.5,
                1000,
                2,
                1.0,
                {},
                true};
  run.seed = 7;
  run.settings = {{"allow_tf32", "0"}, {"loss", "nce"}};
  run.run_id_guessed = true;
  run.owner = "ann";
  opened.loss_before = LossReached{11, 2.25, 2.5, 0.125, 320, 4000, 5000, true};
  opened.batches_before = FirstBatches{{{3, 1}, {4, ~0ull}}, 200, 60};
  opened.updates_before = 1900;
  const RunOpened back = std::get<RunOpened>(RoundTrip(OfRank(opened)).body);
  EXPECT_EQ(back.reason, "first rank");
  EXPECT_EQ(back.loss_before, opened.loss_before);
  EXPECT_EQ(back.batches_before, opened.batches_before);
  EXPECT_EQ(back.updates_before, 1900u);
  EXPECT_EQ(back.description.job, "word2vec");
  EXPECT_EQ(back.description.framework, "ascend_tf");
  EXPECT_EQ(back.description.precision, "fp16");
  EXPECT_EQ(back.description.world_size, 8);
  EXPECT_EQ(back.description.overflow_mode, OverflowMode::kSaturation);
  EXPECT_EQ(back.description.scaler.kind, ScalingKind::kDynamic);
  EXPECT_EQ(back.description.scaler.name, "ascend_tf");
  EXPECT_EQ(back.description.scaler.init_scale, 65536.0);
  EXPECT_EQ(back.description.scaler.growth_interval, 1000);
  EXPECT_EQ(back.description.scaler.hysteresis, 2);
  EXPECT_EQ(back.description.scaler.min_scale, 1.0);
  EXPECT_EQ(back.description.scaler.max_scale, std::nullopt);
  EXPECT_EQ(back.description.scaler.overflow_check, true);
  EXPECT_EQ(back.description.clip_norm, std::nullopt);
  EXPECT_EQ(back.description.seed, 7);
  EXPECT_EQ(back.description.settings, run.settings);
  EXPECT_TRUE(back.description.run_id_guessed);
  EXPECT_EQ(back.description.owner, "ann");
}

TEST(EventCodecTest, KeepsARanksDescription) {
  RankOpened opened;
  opened.rank = {3, 1, "node-4", "Ascend 910B", "0", 4711, {1, 2, 3, 4, 5}};
  opened.rank.pod = {"train-3", "team-a", "gpu7"};
  opened.ops_known = 12;
  opened.clock_skew_us = -3 * 3600ll * 1000000;
  const RankOpened back = std::get<RankOpened>(RoundTrip(OfRank(opened)).body);
  EXPECT_EQ(back.rank.rank, 3);
  EXPECT_EQ(back.rank.local_rank, 1);
  EXPECT_EQ(back.rank.host, "node-4");
  EXPECT_EQ(back.rank.device, "Ascend 910B");
  EXPECT_EQ(back.rank.device_id, "0");
  EXPECT_EQ(back.rank.pid, 4711);
  EXPECT_EQ(back.rank.place, opened.rank.place);
  EXPECT_EQ(back.rank.pod, opened.rank.pod);
  EXPECT_EQ(back.ops_known, 12u);
  EXPECT_EQ(back.clock_skew_us, opened.clock_skew_us);
}

TEST(EventCodecTest, KeepsOpNames) {
  OpNamesAdded added;
  added.names.first_index = 9;
  added.names.ops = {
      {"loss/Log", "Log", "FRACTAL_NZ", Dtype::kFp16, {5, 7}, {16, 16}, 3},
      {"fc1", "", "", Dtype::kUnknown, {}, {}, -1}};
  const OpNames back =
      std::get<OpNamesAdded>(RoundTrip(OfRank(added)).body).names;
  EXPECT_EQ(back.first_index, 9u);
  ASSERT_EQ(back.ops.size(), 2u);
  EXPECT_EQ(back.ops[0].name, "loss/Log");
  EXPECT_EQ(back.ops[0].type, "Log");
  EXPECT_EQ(back.ops[0].data_format, "FRACTAL_NZ");
  EXPECT_EQ(back.ops[0].dtype, Dtype::kFp16);
  EXPECT_THAT(back.ops[0].logical_shape, testing::ElementsAre(5, 7));
  EXPECT_THAT(back.ops[0].storage_shape, testing::ElementsAre(16, 16));
  EXPECT_EQ(back.ops[0].order, 3);
  EXPECT_EQ(back.ops[1].order, -1);
}

TEST(EventCodecTest, KeepsTheDaemonsOwnEvents) {
  RulesLoaded rules;
  rules.rules.rules["scale_collapse"] = {true, {0.5, -1, 1e300}};
  rules.rules.rules["loss_nan"] = {false, {}};
  EXPECT_EQ(std::get<RulesLoaded>(RoundTrip(OfDaemon(rules)).body).rules,
            rules.rules);

  const Event started =
      RoundTrip(OfDaemon(DaemonStarted{"engine-1", FromMicros(7), "0.1+abc"}));
  EXPECT_EQ(std::get<DaemonStarted>(started.body).engine_version, "engine-1");
  EXPECT_EQ(std::get<DaemonStarted>(started.body).engine_build, "0.1+abc");
  EXPECT_EQ(std::get<DaemonStarted>(started.body).alive_until, FromMicros(7));
  EXPECT_EQ(started.rank, -1);

  const std::string state("\0\xff\xfe state", 9);
  const auto checkpoint = std::get<RunCheckpoint>(
      RoundTrip(OfRank(RunCheckpoint{"engine-1", state})).body);
  EXPECT_EQ(checkpoint.state, state);
  EXPECT_EQ(checkpoint.engine_version, "engine-1");
}

TEST(EventCodecTest, KeepsTheEnginesOptions) {
  RulesLoaded loaded;
  loaded.engine.alert = {std::chrono::seconds(61), Duration(0), 9};
  loaded.engine.lost_run_closes_after = std::chrono::seconds(62);
  loaded.engine.ended_run_leaves_after = std::chrono::seconds(63);
  loaded.engine.stop_on = Severity::kWarning;
  loaded.engine.masked_ops = {"decoder.*.scores", "b"};
  loaded.engine.times_are_real = false;
  EXPECT_EQ(std::get<RulesLoaded>(RoundTrip(OfDaemon(loaded)).body).engine,
            loaded.engine);
}

TEST(EventCodecTest, OptionsOfBeforeTheyWereKeptAreTheDefaults) {
  v1::StoredEvent old;
  old.mutable_rules_loaded()->add_rules()->set_name("loss_nan");
  const Result<Event> event = DecodeEvent(old.SerializeAsString());
  ASSERT_TRUE(event.ok()) << event.error();
  const auto& loaded = std::get<RulesLoaded>(event->body);
  EXPECT_EQ(loaded.rules.rules.size(), 1u);
  EXPECT_EQ(loaded.engine, EngineOptions{});
}

TEST(EventCodecTest, RefusesOptionsThatNobodyCouldHaveSet) {
  v1::StoredEvent damaged;
  auto* engine = damaged.mutable_rules_loaded()->mutable_engine();
  engine->set_alert_hold_us(-1);
  EXPECT_FALSE(DecodeEvent(damaged.SerializeAsString()).ok());
  engine->set_alert_hold_us(INT64_MAX);
  EXPECT_FALSE(DecodeEvent(damaged.SerializeAsString()).ok());
  engine->set_alert_hold_us(1);
  engine->set_stop_on(4);
  EXPECT_FALSE(DecodeEvent(damaged.SerializeAsString()).ok());
  engine->set_stop_on(3);
  EXPECT_TRUE(DecodeEvent(damaged.SerializeAsString()).ok());
  damaged.mutable_annotation()->set_rule(kRuleIds);  // read as none: mutes all
  EXPECT_FALSE(DecodeEvent(damaged.SerializeAsString()).ok());
}

TEST(EventCodecTest, KeepsEndingsAndAnnotations) {
  EXPECT_EQ(std::get<RankLost>(RoundTrip(OfRank(RankLost{"cut"})).body).reason,
            "cut");
  EXPECT_EQ(
      std::get<RunClosed>(RoundTrip(OfRank(RunClosed{"lost"})).body).reason,
      "lost");
  const auto dropped =
      std::get<Dropped>(RoundTrip(OfRank(Dropped{1, 2, 3, 4})).body);
  EXPECT_EQ(dropped.steps, 1u);
  EXPECT_EQ(dropped.ops, 2u);
  EXPECT_EQ(dropped.first_step, 3);
  EXPECT_EQ(dropped.last_step, 4);
  const Annotation said{Annotation::Kind::kStopRequest,
                        77,
                        RuleId::kScaleRankMismatch,
                        FromMicros(5),
                        "ann",
                        "NaN since 3"};
  const auto back = std::get<Annotation>(RoundTrip(OfRank(said)).body);
  EXPECT_EQ(back.kind, said.kind);
  EXPECT_EQ(back.incident, 77u);
  EXPECT_EQ(back.rule, RuleId::kScaleRankMismatch);
  EXPECT_EQ(back.until, FromMicros(5));
  EXPECT_EQ(back.by, "ann");
  EXPECT_EQ(back.reason, "NaN since 3");
}

TEST(EventCodecTest, KeepsTheTroublesOfAttemptsBefore) {
  RunOpened opened;
  opened.troubles_before = {{.id = ~uint64_t{0},
                             .attempt = 2,
                             .last_step = 5310,
                             .rule = RuleId::kLossNonfinite,
                             .family = Family::kLoss,
                             .op = "fc1",
                             .optimizer = "adam",
                             .opened_step = 5300,
                             .worst = Severity::kCritical,
                             .reopened = 4}};
  EXPECT_EQ(std::get<RunOpened>(RoundTrip(OfRank(opened)).body).troubles_before,
            opened.troubles_before);
  opened.troubles_before.resize(limits::kIncidentsPerRun + 1);
  std::string bytes;
  EncodeEvent(OfRank(opened), &bytes);
  EXPECT_FALSE(DecodeEvent(bytes).ok());
}

TEST(EventCodecTest, RefusesWhatItCannotHaveMade) {
  EXPECT_FALSE(DecodeEvent("").ok());
  EXPECT_FALSE(DecodeEvent("rubbish").ok());
  std::string bytes;
  EncodeEvent(OfRank(RunClosed{"lost"}), &bytes);
  EXPECT_FALSE(DecodeEvent(std::string_view(bytes).substr(0, 20)).ok());
}

// Flipped bits give an error or another event, never a crash.
TEST(EventCodecTest, SurvivesAnyFlippedBit) {
  RandomEvents random(3);
  std::string bytes;
  EncodeEvent(OfRank(OpBatch{random.Ops(20)}), &bytes);
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    refused += !DecodeEvent(flipped).ok();
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace nanwatch
