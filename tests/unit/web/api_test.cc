#include "web/api.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model/limits.h"
#include "tests/unit/web/fake_backend.h"
#include "web/site.h"

namespace nanwatch {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ParsedJson = nlohmann::json;

class ApiTest : public ::testing::Test {
 protected:
  HttpReply Get(const std::string& path, const std::string& query = "") {
    Site site(daemon_.Backend(), {});
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.query = query;
    return site.Answer(request);
  }
  ParsedJson GetJson(const std::string& path, const std::string& query = "") {
    const HttpReply reply = Get(path, query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return ParsedJson::parse(reply.body);
  }
  void Show(std::vector<RunView> runs) {
    daemon_.snapshot = SnapshotOf(std::move(runs));
  }

  FakeDaemon daemon_;
};

Incident SampleIncident(int64_t step, int32_t rank) {
  Incident incident;
  incident.id = 0xfedcba9876543210;
  incident.rule = RuleId::kScaleUnrepresentable;
  incident.opened_step = step;
  incident.subject.rank = rank;
  incident.state = AlertState::kFiring;
  incident.findings.resize(100);
  return incident;
}

TEST_F(ApiTest, ListsRuns) {
  Show({SampleRun("a"), SampleRun("b")});
  const ParsedJson json = GetJson("/api/v1/runs");
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][1]["run_id"], "b");
  EXPECT_EQ(json["runs"][0]["opened"], 1700000000.5);
}

TEST_F(ApiTest, ListsEndedRunsFromHistoryWhenAsked) {
  Show({SampleRun("a")});
  RunRow kept;
  kept.key.run_id = "a";
  RunRow gone;
  gone.key.run_id = "z";
  daemon_.history.runs = {kept, gone};
  EXPECT_EQ(GetJson("/api/v1/runs")["runs"].size(), 1u);
  const ParsedJson json = GetJson("/api/v1/runs", "ended=1");
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][1]["run_id"], "z");
}

TEST_F(ApiTest, ARunIsCalledByItsHealth) {
  Incident fired = SampleIncident(3, 0);
  fired.fired = fired.opened = FromMicros(1);
  fired.worst = Severity::kCritical;
  RunView sick = SampleRun("sick");
  sick.severity = Severity::kWarning;
  RunView eased = SampleRun("eased");
  eased.incidents = {fired};
  eased.severity = Severity::kInfo;
  RunView ended = eased;
  ended.key.run_id = "ended";
  ended.state = LifeState::kClosed;
  ended.severity = Severity::kNone;
  RunView healed = ended;
  healed.key.run_id = "healed";
  healed.diagnosis = {.condition = Condition::kHealed,
                      .headline = "Healthy now. Earlier: NaN is born in Log."};
  Show({SampleRun("well"), sick, eased, ended, healed});
  RunRow gone;
  gone.key.run_id = "gone";
  RunRow quiet;
  quiet.key.run_id = "quiet";
  daemon_.history.runs = {gone, quiet};
  daemon_.history.sent = {{gone.key, fired}};
  const ParsedJson json = GetJson("/api/v1/runs", "ended=1");
  std::map<std::string, std::string> called;
  for (const ParsedJson& run : json["runs"]) {
    called[run["run_id"]] = std::string(run["health"]) + " / " +
                            std::string(run["health_severity"]);
  }
  EXPECT_EQ(called, (std::map<std::string, std::string>{
                        {"well", "healthy / none"},
                        {"sick", "warning / warning"},
                        {"eased", "info, was critical / info"},
                        {"ended", "critical / critical"},
                        {"healed", "healthy, was critical / none"},
                        {"gone", "was critical / critical"},
                        {"quiet", "healthy / none"}}));
}

TEST_F(ApiTest, FiveKindsOfNothingAreFiveThings) {
  RunView run = SampleRun("a");
  SetValue(StepField::kLoss, NAN, &run.latest);
  SetValue(StepField::kGradNorm, INFINITY, &run.latest);
  SetValue(StepField::kLossScale, -INFINITY, &run.latest);
  Show({run});
  const ParsedJson values = GetJson("/api/v1/runs/a")["values"];
  EXPECT_EQ(values["loss"]["last"], "NaN");
  EXPECT_EQ(values["grad_norm"]["last"], "Infinity");
  EXPECT_EQ(values["loss_scale"]["last"], "-Infinity");
  EXPECT_TRUE(values["loss"]["last_finite"].is_null());
  EXPECT_FALSE(values.contains("learning_rate"));
}

TEST_F(ApiTest, ShowsScalesOfLayersWhereTheyWereCollected) {
  RunView without = SampleRun("a");
  RunView with = SampleRun("b");
  with.scaler.layers = LayerScalesView{.layers = 12,
                                       .lowest = NAN,
                                       .lowest_op = "head",
                                       .lowest_rank = 1,
                                       .highest = 65536,
                                       .highest_op = "embed"};
  Show({without, with});
  EXPECT_FALSE(GetJson("/api/v1/runs/a")["scaler"].contains("layers"));
  const ParsedJson layers = GetJson("/api/v1/runs/b")["scaler"]["layers"];
  EXPECT_EQ(layers["count"], 12);
  EXPECT_EQ(layers["lowest"], "NaN");
  EXPECT_EQ(layers["lowest_op"], "head");
  EXPECT_EQ(layers["lowest_rank"], 1);
  EXPECT_EQ(layers["highest"], 65536);
  EXPECT_EQ(layers["highest_op"], "embed");
}

TEST_F(ApiTest, FindsRunIdsWithSlashesAndUtf8) {
  Show({SampleRun("team/größe 7")});
  EXPECT_EQ(GetJson("/api/v1/runs/team%2Fgr%C3%B6%C3%9Fe%207")["run_id"],
            "team/größe 7");
}

TEST_F(ApiTest, ARunAloneIsItsNewestAttempt) {
  RunView first = SampleRun("a");
  RunView second = SampleRun("a");
  second.key.attempt = 1;
  Show({first, second});
  EXPECT_EQ(GetJson("/api/v1/runs/a")["attempt"], 1);
  EXPECT_EQ(GetJson("/api/v1/runs/a/attempts/0")["attempt"], 0);
  EXPECT_EQ(Get("/api/v1/runs/a/attempts/2").status, 404);
}

TEST_F(ApiTest, StepsComeFromHistory) {
  Show({SampleRun("a")});
  StepBucket bucket;
  bucket.records = 1;
  bucket.value[0].nan = 1;
  bucket.value[1] = {1, 2, 2, 2, 0, 0, 0};
  daemon_.history.buckets = {bucket};
  const ParsedJson json = GetJson("/api/v1/runs/a/attempts/0/steps",
                                  "rank=2&from=-5&to=90&points=17");
  const ParsedJson values = json["buckets"][0]["values"];
  EXPECT_EQ(values["loss"]["last"], "NaN");
  EXPECT_TRUE(values["loss"]["min"].is_null());
  EXPECT_EQ(values["loss_scale"]["max"], 2);
  EXPECT_EQ(values.size(), 2u);
  EXPECT_EQ(daemon_.history.step_query.rank, 2);
  EXPECT_EQ(daemon_.history.step_query.from, -5);
  EXPECT_EQ(daemon_.history.step_query.to, 90);
  EXPECT_EQ(daemon_.history.step_query.points, 17);
}

TEST_F(ApiTest, OpsComeFromHistory) {
  Show({SampleRun("a")});
  OpRow row;
  row.op.name = "loss/Log";
  row.op.storage_shape = {16, 16};
  row.status.count[static_cast<int>(OpCount::kNan)] = 3;
  row.status.stat[static_cast<int>(OpStat::kAbsMax)] = 65504.0f;
  OpRow with = row;
  with.digest = 0xfedcba9876543210;
  with.exponents = ExponentCounts{.first = -24, .counts = {7, 0, 2}};
  daemon_.history.rows = {row, with};
  const ParsedJson statuses = GetJson("/api/v1/runs/a/ops")["statuses"];
  const ParsedJson& status = statuses[0];
  EXPECT_EQ(status["op"], "loss/Log");
  EXPECT_EQ(status["counts"]["nan"], 3);
  EXPECT_EQ(status["counts"].size(), 1u);
  EXPECT_EQ(status["statistics"]["abs_max"], 65504);
  EXPECT_EQ(status["storage_shape"], ParsedJson({16, 16}));
  EXPECT_FALSE(status.contains("device_flag"));
  EXPECT_FALSE(status.contains("digest"));
  EXPECT_FALSE(status.contains("exponents"));
  EXPECT_EQ(statuses[1]["digest"], "fedcba9876543210");
  EXPECT_EQ(statuses[1]["exponents"]["first"], -24);
  EXPECT_EQ(statuses[1]["exponents"]["counts"], ParsedJson({7, 0, 2}));
}

TEST_F(ApiTest, IncidentsAreFilteredAndBounded) {
  RunView run = SampleRun("a");
  run.incidents = {SampleIncident(10, 0), SampleIncident(20, 1)};
  Show({run});
  const ParsedJson all = GetJson("/api/v1/runs/a/incidents")["incidents"];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["id"], "fedcba9876543210");
  EXPECT_EQ(all[0]["rule"]["name"], "scale_collapse");
  EXPECT_EQ(all[0]["findings"].size(), 16u);
  EXPECT_EQ(all[0]["findings_total"], 100);
  const ParsedJson one =
      GetJson("/api/v1/runs/a/incidents", "rank=1&from=15")["incidents"];
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["opened_step"], 20);
}

TEST_F(ApiTest, IncidentsOfAnEndedRunComeFromHistory) {
  RunRow row;
  row.key = {"old", 2};
  daemon_.history.runs = {row};
  daemon_.history.sent = {{{"old", 2}, SampleIncident(1, 0)},
                          {{"old", 1}, SampleIncident(1, 0)}};
  const ParsedJson json = GetJson("/api/v1/runs/old/incidents");
  EXPECT_EQ(json["attempt"], 2);
  EXPECT_EQ(json["incidents"].size(), 1u);
}

TEST_F(ApiTest, ARunThatHasLeftIsJudgedAgain) {
  RunRow row;
  row.key = {"old", 2};
  daemon_.history.runs = {row};
  daemon_.past_run = [](std::string_view id, std::optional<int32_t> attempt)
      -> Result<std::shared_ptr<const RunView>> {
    if (attempt) return Error{"too long"};
    if (id != "old") return std::shared_ptr<const RunView>();
    RunView run = SampleRun("old");
    run.diagnosis.headline = "It was fine.";
    return std::make_shared<const RunView>(std::move(run));
  };
  EXPECT_EQ(GetJson("/api/v1/runs/old")["headline"], "It was fine.");
  EXPECT_EQ(Get("/api/v1/runs/none").status, 404);
  const ParsedJson few = GetJson("/api/v1/runs/old/attempts/2");
  EXPECT_EQ(few["attempt"], 2);
  EXPECT_FALSE(few.contains("headline"));
}

TEST_F(ApiTest, IncidentsOfAPastRunAreThoseJudgedAgain) {
  RunRow row;
  row.key = {"old", 2};
  daemon_.history.runs = {row};
  // A muted one was never reported, and a report does not say what came after.
  daemon_.history.sent = {{row.key, SampleIncident(7, 0)}};
  daemon_.past_run = [&](std::string_view, std::optional<int32_t> attempt)
      -> Result<std::shared_ptr<const RunView>> {
    if (attempt) return Error{"too long"};
    RunView run = SampleRun("old");
    run.incidents = {SampleIncident(7, 0), SampleIncident(9, 0)};
    for (Incident& incident : run.incidents) {
      incident.state = AlertState::kResolved;
      incident.resolved_reason = "all ranks closed";
    }
    return std::make_shared<const RunView>(std::move(run));
  };
  const ParsedJson judged = GetJson("/api/v1/runs/old/incidents")["incidents"];
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_EQ(judged[0]["state"], "resolved");
  EXPECT_EQ(judged[1]["resolved_reason"], "all ranks closed");
  const ParsedJson sent =
      GetJson("/api/v1/runs/old/attempts/2/incidents")["incidents"];
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0]["state"], "firing");
}

TEST_F(ApiTest, BadNumbersAreToldByName) {
  Show({SampleRun("a")});
  for (const char* query :
       {"points=0", "points=10001", "points=x", "from=1.5", "rank=-1",
        "to=99999999999999999999", "from=5&to=4", "form=3", "from=1&from=2"}) {
    const HttpReply reply = Get("/api/v1/runs/a/steps", query);
    EXPECT_EQ(reply.status, 400) << query;
    const ParsedJson error = ParsedJson::parse(reply.body)["error"];
    EXPECT_FALSE(error["what"].get<std::string>().empty()) << query;
    EXPECT_FALSE(error["do"].get<std::string>().empty()) << query;
  }
  EXPECT_THAT(Get("/api/v1/runs/a/steps", "form=3").body, HasSubstr("form"));
}

TEST_F(ApiTest, UnknownThingsAre404) {
  for (const char* path :
       {"/api/v1/runs/none", "/api/v1/runs/none/steps", "/api/v1/nothing",
        "/api/v2/runs", "/x", "/api/v1/runs/none/attempts/x/steps",
        "/api/v1/runs/none/attempts/0/wheels"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
  }
}

TEST_F(ApiTest, WithoutHistoryStepsSayWhatToDo) {
  Show({SampleRun("a")});
  daemon_.history_on = false;
  const HttpReply reply = Get("/api/v1/runs/a/steps");
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.body, HasSubstr("history is off"));
  EXPECT_THAT(reply.body, HasSubstr("history.enabled: true"));
}

TEST_F(ApiTest, WhatWasNotCollectedHasNoKey) {
  RunView run = SampleRun("a");
  run.updates = run.fate_unknown = 7;
  run.totals.overflow_unknown = run.totals.fate_unknown = 7;
  Show({run});
  const ParsedJson unknown = GetJson("/api/v1/runs/a");
  EXPECT_FALSE(unknown.contains("optimizer_updates"));
  EXPECT_EQ(unknown["optimizer_updates_unknown"], 7);
  EXPECT_FALSE(unknown["totals"].contains("overflows"));
  EXPECT_FALSE(unknown["totals"].contains("skipped"));
  EXPECT_EQ(unknown["totals"]["overflow_unknown"], 7);
  run.fate_unknown = 0;
  run.totals.overflow_unknown = run.totals.fate_unknown = 0;
  Show({run});
  const ParsedJson known = GetJson("/api/v1/runs/a");
  EXPECT_EQ(known["optimizer_updates"], 0);
  EXPECT_EQ(known["totals"]["overflows"], 0);
  EXPECT_EQ(known["totals"]["skipped"], 0);
}

TEST_F(ApiTest, AHistoryThatFailsIsToldWithItsReason) {
  Show({SampleRun("a")});
  daemon_.history.failure = "disk I/O error";
  EXPECT_THAT(Get("/api/v1/runs/a/steps").body, HasSubstr("disk I/O error"));
}

TEST_F(ApiTest, StatusTakesNoParameter) {
  const HttpReply reply = Get("/api/v1/status", "x=1");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("parameter x"));
}

TEST_F(ApiTest, StatusSaysWhetherItIsReady) {
  daemon_.not_ready = "Replaying the history.";
  const ParsedJson json = GetJson("/api/v1/status");
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["reason"], "Replaying the history.");
  EXPECT_EQ(json["version"], "0.1.0");
}

TEST_F(ApiTest, StringsThatAreNotUtf8DoNotFail) {
  RunView run = SampleRun("a");
  run.description.job = "bad\xff";
  Show({run});
  EXPECT_EQ(GetJson("/api/v1/runs/a")["job"], "bad\xEF\xBF\xBD");
}

// Keys of a reply that are the API's: not names that a training made up.
void GatherKeys(const ParsedJson& json, std::set<std::string>* keys) {
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys->insert(key);
    if (key != "settings" && key != "labels") GatherKeys(value, keys);
  }
}

// With everything that a run may have.
RunView FullRun() {
  RunView run = SampleRun("a", 1);
  const auto rank = std::const_pointer_cast<RankBlock>(run.ranks[0]);
  for (int f = 0; f < kStepFields; ++f) {
    SetValue(static_cast<StepField>(f), 1, &run.latest);
  }
  (*rank)[0].latest = run.latest;
  run.description.clip_norm = 1;
  run.description.seed = 1;
  run.description.settings = {{"its own", "x"}};
  run.scaler.layers.emplace();
  run.top_ops.emplace_back().abs_max = 1;
  run.stop_requested = "enough";
  CauseVerdict& cause = run.diagnosis.causes.emplace_back();
  cause.origin = {.rank = 0, .optimizer = "adam", .op = "head"};
  cause.op_type = "Linear";
  cause.op_dtype = Dtype::kFp16;
  cause.evidence.emplace_back();
  cause.actions.emplace_back();
  cause.rules = {RuleId::kScaleUnrepresentable};
  run.incidents = {SampleIncident(1, 0)};
  run.incidents[0].findings[0].numbers.emplace_back();
  return run;
}

OpRow FullOpRow() {
  OpRow row;
  row.op.logical_shape = row.op.storage_shape = {1};
  row.op.order = 1;
  for (auto& count : row.status.count) count = 1;
  for (auto& stat : row.status.stat) stat = 1;
  row.status.device_flag = true;
  row.digest = 1;
  row.exponents.emplace();
  return row;
}

TEST_F(ApiTest, AnOriginHasTheTypeAndDtypeOfItsOpWhereTheyAreKnown) {
  RunView run = FullRun();
  run.diagnosis.causes.emplace_back();
  Show({run});
  const ParsedJson causes = GetJson("/api/v1/runs/a")["causes"];
  EXPECT_EQ(causes[0]["origin"]["type"], "Linear");
  EXPECT_EQ(causes[0]["origin"]["dtype"], "fp16");
  EXPECT_EQ(causes[1]["origin"], ParsedJson::object());
}

TEST_F(ApiTest, EveryKeyStandsInItsPage) {
  Show({FullRun()});
  RunRow ended;
  ended.key.run_id = "z";
  daemon_.history.runs = {ended};
  StepBucket bucket;
  for (auto& value : bucket.value) value = {1, 1, 1, 1, 1, 1, 1};
  daemon_.history.buckets = {bucket};
  daemon_.history.rows = {FullOpRow()};
  daemon_.self_samples = {{"nanwatch_x", {{"its own", "y"}}, 1}};
  std::set<std::string> keys;
  for (const auto& [path, query] :
       {std::pair("status", ""), std::pair("runs", "ended=1"),
        std::pair("runs/a", ""), std::pair("runs/a/steps", ""),
        std::pair("runs/a/ops", ""), std::pair("runs/a/incidents", "")}) {
    GatherKeys(GetJson(std::string("/api/v1/") + path, query), &keys);
  }
  GatherKeys(ParsedJson::parse(Get("/api/v1/x").body), &keys);
  std::ifstream file(NANWATCH_API_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_GT(keys.size(), 100u);
  for (const std::string& key : keys) {
    EXPECT_THAT(page.str(), AnyOf(HasSubstr("`" + key + "`"),
                                  HasSubstr("\"" + key + "\":")))
        << key;
  }
}

}  // namespace
}  // namespace nanwatch
