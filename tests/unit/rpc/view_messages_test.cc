#include "rpc/view_messages.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/model/filled.h"

namespace nanwatch {
namespace {

using ::testing::UnorderedElementsAre;

std::string RuleOf(RuleId rule) {
  return "rule" + std::to_string(NumberOf(rule));
}

// Names of the fields that say nothing, also inside.
std::set<std::string> Unset(const google::protobuf::Message& message) {
  std::set<std::string> unset;
  const auto& reflection = *message.GetReflection();
  const auto add = [&](const google::protobuf::Message& inner,
                       const std::string& name) {
    for (const std::string& one : Unset(inner)) unset.insert(name + '.' + one);
  };
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto* field = message.GetDescriptor()->field(i);
    const bool is_message =
        field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE;
    const int size = field->is_repeated() ? reflection.FieldSize(message, field)
                                          : reflection.HasField(message, field);
    if (size == 0) unset.insert(field->name());
    for (int n = 0; is_message && n < size; ++n) {
      add(field->is_repeated()
              ? reflection.GetRepeatedMessage(message, field, n)
              : reflection.GetMessage(message, field),
          field->name());
    }
  }
  return unset;
}

TEST(ViewMessagesTest, SaysAllThatIsKnownOfAnIncident) {
  v1::Incident message;
  WriteIncident(Filled<Incident>(), RuleOf, &message);
  EXPECT_THAT(Unset(message),
              UnorderedElementsAre(
                  "subject.type", "subject.dtype", "findings.subject.host",
                  "findings.subject.device", "findings.subject.pod",
                  "findings.subject.type", "findings.subject.dtype"));
}

TEST(ViewMessagesTest, SaysAllThatIsKnownOfARun) {
  RunView run;
  run.key = {"a", 1};
  run.description = {.job = "b", .framework = "c", .precision = "d"};
  run.description.owner = "o";
  run.severity = Severity::kWarning;
  run.opened = run.last_record = FromMicros(5);
  run.ended = FromMicros(6);
  run.end_reason = "e";
  run.last_step = run.judged_since = 7;
  run.updates = run.applied = run.fate_unknown = 8;
  run.ranks_open = run.ranks_lost = 1;
  run.latest.last[0] = run.latest.last_finite[0] = 9;
  run.latest.nonfinite[0] = 1;
  run.totals = {1, 1, 1, 1, 1, 1, 1, 1};
  run.scaler = {"f", true, 2, 3, 4, LayerScalesView{1, 2, "g", 3, 4, "h", 5}};
  run.diagnosis = Filled<Diagnosis>();
  run.incidents = {Filled<Incident>()};
  run.incidents[0].worst = Severity::kCritical;
  run.top_ops = {{"i", "j", 1, 2, 3, 4, 5, Slot::kInput, 6.f, 7}};
  RankView rank;
  rank.description = {2, 2, "k", "l", "m"};
  rank.description.pod = {"p", "q", "r"};
  rank.last_step = 3;
  rank.last_record = FromMicros(4);
  rank.latest = run.latest;
  rank.totals = run.totals;
  rank.clock_skew = Duration(5);
  rank.severity = Severity::kInfo;
  run.ranks.push_back(std::make_shared<RankBlock>(1, rank));
  run.stop_requested = "n";
  v1::RunDetail message;
  WriteDetail(run, RuleOf, &message);
  std::set<std::string> unset = Unset(message);
  std::erase_if(unset, [](const std::string& name) {
    return name.starts_with("incidents.") || name.starts_with("info.");
  });
  // A run that goes on has no end, and was not judged to it, nor not. It has no
  // benchmark.
  EXPECT_THAT(
      unset, UnorderedElementsAre("benchmark", "causes.origin.host",
                                  "causes.origin.device", "causes.origin.pod",
                                  "summary.ended_by", "summary.judged_to_end"));
}

TEST(ViewMessagesTest, TellsAbsentFromNanFromFinite) {
  RunView run;
  run.latest.last[static_cast<int>(StepField::kLoss)] = std::nan("");
  run.latest.last_finite[static_cast<int>(StepField::kLoss)] = 2.5;
  run.latest.nonfinite[static_cast<int>(StepField::kLoss)] = 3;
  run.latest.last[static_cast<int>(StepField::kLossScale)] = 0;
  v1::RunSummary summary;
  WriteSummary(run, &summary);
  ASSERT_EQ(summary.values_size(), 2);
  EXPECT_EQ(summary.values(0).field(), "loss");
  EXPECT_TRUE(std::isnan(summary.values(0).last()));
  EXPECT_EQ(summary.values(0).last_finite(), 2.5);
  EXPECT_EQ(summary.values(0).nonfinite(), 3u);
  EXPECT_TRUE(summary.values(1).has_last());
  EXPECT_FALSE(summary.values(1).has_last_finite());
}

TEST(ViewMessagesTest, KeepsStatesAndSeverities) {
  RunView run;
  run.state = LifeState::kLost;
  run.severity = Severity::kCritical;
  v1::RunSummary summary;
  WriteSummary(run, &summary);
  EXPECT_EQ(summary.state(), v1::LIFE_STATE_LOST);
  EXPECT_EQ(summary.severity(), v1::SEVERITY_CRITICAL);
}

TEST(ViewMessagesTest, ShowsARunInFull) {
  RunView run;
  run.key = {"job-7", 2};
  run.description.scaler.kind = ScalingKind::kDynamic;
  run.diagnosis.headline = "loss/Log overflows in its padding only";
  CauseVerdict& cause = run.diagnosis.causes.emplace_back();
  cause.cause = Cause::kHarmlessPadding;
  cause.grade = EvidenceGrade::kEstablished;
  cause.origin = {1, "", "loss/Log", Slot::kOutput};
  cause.op_type = "Log";
  cause.op_dtype = Dtype::kFp16;
  cause.ceiling = Severity::kInfo;
  cause.rules = {RuleId::kOpOverflowOrigin};
  cause.evidence.push_back({EvidenceGrade::kSupported, "outputs are finite"});
  cause.actions.push_back({"ascend_tf", "Switch the check off."});
  auto block = std::make_shared<RankBlock>();
  block->resize(2);
  (*block)[1].description.rank = 1;
  (*block)[1].description.host = "node-4";
  run.ranks.push_back(block);
  run.diagnosis.causes.emplace_back();
  run.top_ops.emplace_back().name = "loss/Log";
  run.stop_requested = "by ann";
  run.scaler.layers = LayerScalesView{
      .layers = 3, .lowest = 0.5, .lowest_op = "head", .highest = 64};

  v1::RunDetail detail;
  WriteDetail(run, RuleOf, &detail);
  EXPECT_EQ(detail.info().run_id(), "job-7");
  EXPECT_EQ(detail.info().attempt(), 2);
  EXPECT_EQ(detail.info().scaler().kind(), v1::SCALING_KIND_DYNAMIC);
  ASSERT_EQ(detail.causes_size(), 2);
  EXPECT_EQ(detail.causes(1).origin().dtype(), "") << "not known";
  EXPECT_EQ(detail.causes(0).cause(), "harmless_padding");
  EXPECT_EQ(detail.causes(0).grade(), v1::EVIDENCE_GRADE_ESTABLISHED);
  EXPECT_EQ(detail.causes(0).origin().op(), "loss/Log");
  EXPECT_EQ(detail.causes(0).origin().slot(), "output");
  EXPECT_EQ(detail.causes(0).origin().type(), "Log");
  EXPECT_EQ(detail.causes(0).origin().dtype(), "fp16");
  EXPECT_EQ(detail.causes(0).origin().host(), "node-4");
  EXPECT_EQ(detail.causes(0).rules(0), "rule18");
  EXPECT_EQ(detail.causes(0).evidence(0).sentence(), "outputs are finite");
  EXPECT_EQ(detail.causes(0).actions(0).framework(), "ascend_tf");
  EXPECT_EQ(detail.ranks_size(), 2);
  EXPECT_EQ(detail.ops(0).name(), "loss/Log");
  EXPECT_EQ(detail.stop_requested(), "by ann");
  EXPECT_EQ(detail.scaler().layers().layers(), 3u);
  EXPECT_EQ(detail.scaler().layers().lowest(), 0.5);
  EXPECT_EQ(detail.scaler().layers().lowest_op(), "head");
  EXPECT_EQ(detail.scaler().layers().highest(), 64);
}

TEST(ViewMessagesTest, ShowsAnIncident) {
  Incident incident;
  incident.id = 77;
  incident.family = Family::kScale;
  incident.rule = RuleId::kScaleCollapse;
  incident.state = AlertState::kFiring;
  incident.severity = Severity::kWarning;
  incident.host = "node-4";
  incident.opened_step = 12;
  Finding& finding = incident.findings.emplace_back();
  finding.rule = RuleId::kScaleCollapse;
  finding.numbers.push_back({"scale_before", 65536, ""});
  v1::Incident message;
  WriteIncident(incident, RuleOf, &message);
  EXPECT_EQ(message.id(), 77u);
  EXPECT_EQ(message.family(), "scale");
  EXPECT_EQ(message.rule(), "rule4");
  EXPECT_EQ(message.state(), v1::ALERT_STATE_FIRING);
  EXPECT_EQ(message.severity(), v1::SEVERITY_WARNING);
  EXPECT_EQ(message.subject().host(), "node-4");
  EXPECT_EQ(message.subject().slot(), "");
  EXPECT_FALSE(message.has_resolved_step());
  EXPECT_EQ(message.findings(0).numbers(0).value(), 65536);
}

TEST(ViewMessagesTest, LeavesOutFieldsThatABucketDoesNotHave) {
  StepBucket bucket;
  bucket.first_step = 64;
  bucket.records = 3;
  bucket.value[static_cast<int>(StepField::kLoss)].nan = 3;
  v1::GetStepsResponse response;
  WriteBuckets({bucket}, &response);
  EXPECT_EQ(response.fields_size(), kStepFields);
  ASSERT_EQ(response.buckets_size(), 1);
  ASSERT_EQ(response.buckets(0).values_size(), 1);
  EXPECT_EQ(response.buckets(0).values(0).nan(), 3u);
}

OpRow Gradient(const char* name, int32_t order, int64_t step, float rms) {
  OpRow row;
  row.op.name = name;
  row.op.type = "Parameter";
  row.op.dtype = Dtype::kFp16;
  row.op.order = order;
  row.status.slot = Slot::kGradInput;
  row.status.step = step;
  row.status.elements = 8;
  row.status.stat[static_cast<int>(OpStat::kRms)] = rms;
  return row;
}

TEST(ViewMessagesTest, OfAParameterTheNewestGradientIsTold) {
  std::vector<OpRow> rows = {Gradient("first", 9, 31, 1),
                             Gradient("last", 5, 32, 2),
                             Gradient("first", 9, 32, 3)};
  rows.push_back(Gradient("relu", 7, 32, 4));
  rows.back().op.type = "ReLUBackward";
  rows.push_back(Gradient("weight", 8, 32, 5));
  rows.back().status.slot = Slot::kParameter;
  rows[2].status.count[static_cast<int>(OpCount::kNan)] = 2;
  rows[2].status.count[static_cast<int>(OpCount::kPosInf)] = 1;
  v1::GetLayersResponse layers;
  WriteLayers(rows, &layers);
  ASSERT_EQ(layers.layers_size(), 2);
  const v1::Layer& first = layers.layers(0);
  EXPECT_EQ(first.name(), "first");
  EXPECT_EQ(first.dtype(), "fp16");
  EXPECT_EQ(first.step(), 32);
  EXPECT_EQ(first.rms(), 3);
  EXPECT_EQ(first.nonfinite(), 3u);
  EXPECT_FALSE(first.has_abs_max());
  EXPECT_FALSE(first.has_zeros());
  EXPECT_EQ(layers.layers(1).name(), "last");
}

TEST(ViewMessagesTest, SaysWhichScalesSuitLayers) {
  LayerRangesView ranges;
  ranges.layers.push_back({.name = "embed",
                           .lowest = 1024,
                           .highest = 65536,
                           .lost = 1,
                           .all_lost = true,
                           .group = 0});
  ranges.layers.push_back({.name = "head"});
  ranges.groups.push_back({4096, 1024, 65536, true});
  v1::GetLayersResponse told;
  WriteLayerScales(ranges, &told);
  ASSERT_EQ(told.scales_size(), 2);
  EXPECT_EQ(told.scales(0).lowest(), 1024);
  EXPECT_EQ(told.scales(0).highest(), 65536);
  EXPECT_TRUE(told.scales(0).all_lost());
  EXPECT_TRUE(told.scales(0).has_group());
  EXPECT_FALSE(told.scales(0).has_scale()) << "none of its own";
  EXPECT_FALSE(told.scales(1).has_lowest());
  EXPECT_FALSE(told.scales(1).has_group());
  ASSERT_EQ(told.groups_size(), 1);
  EXPECT_TRUE(told.groups(0).bound());
}

}  // namespace
}  // namespace nanwatch
