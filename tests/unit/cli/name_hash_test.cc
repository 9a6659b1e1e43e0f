#include "cli/name_hash.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wire/event_codec.h"

namespace nanwatch {
namespace {

const char* const kNames[] = {"RUNNAME",  "JOBNAME",  "HOSTNAME", "DEVICENAME",
                              "DEVICEID", "OPNAME",   "OPTNAME",  "SETTINGKEY",
                              "SETTING=", "SOMEBODY", "WHYNAME",  "MYSCALER",
                              "BENCHNAME"};

std::vector<Event> EventsWithNames() {
  std::vector<Event> events;
  const auto add = [&](EventBody body) {
    Event& event = events.emplace_back();
    event.run = {"RUNNAME", 2};
    event.body = std::move(body);
  };
  RunOpened opened;
  opened.description.job = "JOBNAME";
  opened.description.settings = {{"SETTINGKEY", "SETTING="}};
  opened.description.scaler.name = "MYSCALER";
  add(opened);
  RankOpened rank;
  rank.rank.host = "HOSTNAME";
  rank.rank.device = "DEVICENAME";
  rank.rank.device_id = "DEVICEID";
  rank.rank.pod = {"PODNAME", "NAMESPACE", "NODENAME"};
  add(rank);
  OpNamesAdded ops;
  OpName& op = ops.names.ops.emplace_back();
  op.name = "OPNAME";
  op.type = "Log";
  add(ops);
  StepBatch steps;
  steps.columns.step = {1};
  steps.columns.time = {FromMicros(1)};
  steps.columns.optimizers = {"OPTNAME"};
  add(steps);
  Annotation said;
  said.by = "SOMEBODY";
  said.reason = "WHYNAME";
  add(said);
  add(BenchmarkSet{
      std::make_shared<const Benchmark>(Benchmark{"BENCHNAME", {{1, 2.5}}}),
      "SOMEBODY"});
  return events;
}

std::string Bytes(const std::vector<Event>& events) {
  std::string all;
  for (const Event& event : events) {
    std::string bytes;
    EncodeEvent(event, &bytes);
    all += bytes;
  }
  return all;
}

TEST(NameHash, LeavesNoNameInAnyByteOfAnEvent) {
  std::vector<Event> events = EventsWithNames();
  const std::string clear = Bytes(events);
  const NameHash hash(17);
  for (Event& event : events) hash.HashNames(&event);
  const std::string hashed = Bytes(events);
  for (const char* name : kNames) {
    EXPECT_THAT(clear, testing::HasSubstr(name));
    EXPECT_THAT(hashed, testing::Not(testing::HasSubstr(name)));
  }
}

TEST(NameHash, KeepsWhatVerdictsHangOn) {
  RunOpened opened;
  opened.description.scaler.name = "pytorch";
  opened.description.framework = "deepspeed";
  Event event;
  event.body = opened;
  NameHash(1).HashNames(&event);
  const auto& run = std::get<RunOpened>(event.body).description;
  EXPECT_EQ(run.scaler.name, "pytorch");
  EXPECT_EQ(run.framework, "deepspeed");
}

TEST(NameHash, OneNameOneHashWithinAnExport) {
  EXPECT_EQ(NameHash(1).Hash("a"), NameHash(1).Hash("a"));
  EXPECT_NE(NameHash(1).Hash("a"), NameHash(2).Hash("a"));
  EXPECT_EQ(NameHash(1).Hash(""), "");
}

TEST(NameHash, AnIncidentLosesItsSentences) {
  Incident incident;
  incident.subject.op = "OPNAME";
  incident.subject.optimizer = "OPTNAME";
  incident.host = "HOSTNAME";
  incident.device = "DEVICENAME";
  incident.pod.name = "PODNAME";
  incident.summary = "OPNAME overflows";
  incident.acknowledged_by = "SOMEBODY";
  incident.findings.emplace_back().sentence = "OPNAME on HOSTNAME";
  const NameHash hash(17);
  hash.HashNames({hash.Hash("RUNNAME"), 0}, &incident);
  EXPECT_EQ(incident.subject.op, hash.Hash("OPNAME"));
  EXPECT_EQ(incident.subject.optimizer, hash.Hash("OPTNAME"));
  EXPECT_EQ(incident.host + incident.device + incident.summary +
                incident.acknowledged_by,
            "");
  EXPECT_FALSE(incident.pod.known());
  EXPECT_TRUE(incident.findings.empty());
}

}  // namespace
}  // namespace nanwatch
