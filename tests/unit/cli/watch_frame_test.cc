#include "cli/watch_frame.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace nanwatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

v1::RunDetail Sick() {
  v1::RunDetail run;
  v1::RunSummary& summary = *run.mutable_summary();
  summary.set_run_id("job-7");
  summary.set_state(v1::LIFE_STATE_OPEN);
  summary.set_severity(v1::SEVERITY_CRITICAL);
  summary.set_headline(
      "Gradients are not finite at every scale, so that no scale helps: op "
      "decoder/layer.17/softmax makes an infinity out of finite inputs on rank "
      "3 since step 812, and the loss scale has fallen from 65536 to 1.");
  v1::CauseVerdict& cause = *run.add_causes();
  cause.set_cause("op_internal_overflow");
  cause.set_sentence("Op decoder/layer.17/softmax overflows inside.");
  for (const char* action :
       {"Compute this op in float32: wrap it in autocast(enabled=False), and "
        "cast its inputs, so that sums of exponentials have room.",
        "Until then stop the training, since it learns nothing: all of its "
        "steps are skipped, and the scale will stay where it is."}) {
    cause.add_actions()->set_sentence(action);
  }
  for (int i = 0; i < 5; ++i) {
    v1::Incident& incident = *run.add_incidents();
    incident.set_worst(v1::SEVERITY_CRITICAL);
    incident.set_severity(v1::SEVERITY_CRITICAL);
    incident.set_state(v1::ALERT_STATE_FIRING);
    incident.set_summary("The loss scale falls and falls.");
  }
  return run;
}

v1::GetStepsResponse Steps() {
  v1::GetStepsResponse steps;
  steps.add_fields("loss");
  steps.add_fields("loss_scale");
  for (int i = 0; i < 67; ++i) {
    v1::StepBucket& bucket = *steps.add_buckets();
    bucket.set_first_step(i);
    bucket.set_last_step(i);
    for (uint32_t field : {0u, 1u}) {
      v1::StepBucket::Value& value = *bucket.add_values();
      value.set_field(field);
      value.set_count(1);
      value.set_min(1 + i);
      value.set_max(1 + i);
    }
  }
  return steps;
}

v1::GetLayersResponse Layers(int count) {
  v1::GetLayersResponse layers;
  for (int i = 0; i < count; ++i) {
    v1::Layer& layer = *layers.add_layers();
    layer.set_name("layer." + std::to_string(i) + ".weight");
    layer.set_elements(100);
    layer.set_abs_max(2.0 * i);
    layer.set_rms(i);
  }
  return layers;
}

std::string Frame(int columns, int rows, int layers = 0) {
  Style style;
  style.columns = columns;
  return WatchFrame(Sick(), Steps(), Layers(layers), style, rows);
}

TEST(WatchFrame, AlwaysSaysWhatIsWrongAndWhatToDo) {
  for (const int columns : {40, 80, 120}) {
    for (int rows = 8; rows < 60; ++rows) {
      const std::string frame = Frame(columns, rows);
      EXPECT_LE(std::count(frame.begin(), frame.end(), '\n'), rows);
      EXPECT_THAT(frame, AllOf(HasSubstr("CRITICAL\n  Gradients are not"),
                               HasSubstr("Op internal overflow (hypothesis)"),
                               HasSubstr("-> Compute this op"),
                               HasSubstr("-> Until then stop")))
          << columns << " x " << rows;
    }
  }
}

TEST(WatchFrame, PicturesTakeTheRoomThatIsLeft) {
  const std::string usual = Frame(80, 23);
  EXPECT_THAT(usual, HasSubstr("loss scale (log2)\n"));
  EXPECT_THAT(usual, HasSubstr("incidents\n"));
  EXPECT_THAT(Frame(80, 18), HasSubstr("incidents (1 of 5)"));
  EXPECT_THAT(usual, Not(HasSubstr("...")));
  const std::string tall = Frame(120, 39);
  EXPECT_THAT(tall,
              AllOf(HasSubstr("loss scale (log2)\n"), HasSubstr("\nloss\n"),
                    HasSubstr("step 0 to 66"), HasSubstr("incidents\n")));
  EXPECT_EQ(Frame(80, 0), Frame(80, 1000));
  EXPECT_THAT(Frame(80, 12), Not(HasSubstr("log2")));
}

TEST(WatchFrame, LayersComeWhereThereIsRoomForAllElse) {
  EXPECT_THAT(Frame(80, 0, 9), HasSubstr("layers (6 of 9: odd, largest"));
  EXPECT_EQ(Frame(80, 24, 9), Frame(80, 24));
  for (int rows = 1; rows < 60; ++rows) {
    const std::string frame = Frame(80, rows, 9);
    EXPECT_LE(std::count(frame.begin(), frame.end(), '\n'), rows);
  }
}

// A program counts batches: one record at each 64th step of its own.
TEST(WatchFrame, LayersOfLongAgoAreNotOfNow) {
  v1::RunDetail run = Sick();
  run.mutable_summary()->set_last_step(640'000);
  run.mutable_summary()->set_steps(8 * 10'000);  // of 8 ranks
  v1::GetStepsResponse steps;
  v1::StepBucket& bucket = *steps.add_buckets();
  bucket.set_last_step(640'000);
  bucket.set_records(10'001);
  v1::GetLayersResponse layers = Layers(2);
  layers.mutable_layers(0)->set_step(640'000 - 256 * 64);
  layers.mutable_layers(1)->set_step(640'000 - 256 * 64 - 1);
  EXPECT_THAT(
      WatchFrame(run, steps, layers, {}, 0),
      AllOf(HasSubstr("layer.0.weight"), Not(HasSubstr("layer.1.weight"))));
  bucket.set_last_step(INT64_MAX);
  bucket.set_records(2);
  run.mutable_summary()->set_last_step(INT64_MAX);
  EXPECT_THAT(WatchFrame(run, steps, layers, {}, 0),
              HasSubstr("layer.1.weight"));
}

TEST(WatchFrame, ATinyTerminalGetsAFrameOfItsSize) {
  for (int rows = 1; rows < 8; ++rows) {
    const std::string frame = Frame(20, rows);
    EXPECT_LE(std::count(frame.begin(), frame.end(), '\n'), rows);
    EXPECT_THAT(frame, HasSubstr("job-7"));
  }
  EXPECT_THAT(Frame(80, 6), AllOf(HasSubstr("CRITICAL"), HasSubstr("..."),
                                  HasSubstr("-> Until then")));
}

}  // namespace
}  // namespace nanwatch
