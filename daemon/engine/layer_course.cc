#include "engine/layer_course.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

// Updates at the scale before the first overflow, as many as a rule looks back
// for a quick fall.
constexpr uint16_t kBefore = 50;  // as scale_collapse's first window

constexpr uint8_t FlagBit(StepFlag flag) {
  return static_cast<uint8_t>(1u << static_cast<int>(flag));
}

// Of one layer it is a scaler like any other. `name`: of the catalog.
ScalerDeclaration OwnScaler(const ScalerDeclaration& run, std::string name) {
  ScalerDeclaration own = run;
  own.kind = ScalingKind::kDynamic;
  own.name = std::move(name);
  return own;
}

// Says of which layer it speaks.
std::string OfLayer(const std::string& layer, const std::string& said) {
  return said.empty() ? said : "Layer " + layer + ": " + said;
}

}  // namespace

LayerCourse::LayerCourse(uint32_t op, const ScalerDeclaration& scaler)
    : op_(op) {
  tracker_.Declare(OwnScaler(scaler, scaler.name));
}

void LayerCourse::Take(const LayerTold& told, const RunDescription& run,
                       const StepRecord& record,
                       const LayerMoveRules::Table& table,
                       const Changed& changed) {
  if (!begun_) {
    Begin(told, run, record.step, table);
  } else if (told.log2_scale < log2_scale_ && !told.bad && !was_bad_ &&
             !statistical_) {
    FollowStatistics(run.scaler, changed);
  }
  was_bad_ = told.bad;
  log2_scale_ = told.log2_scale;
  // What another layer's overflow left here says nothing of this one's scale.
  if (told.bad && !told.origin) return;
  Feed(told.log2_scale, told.bad, run, record, table, changed);
}

// Takes in what its scale was while nothing overflowed.
void LayerCourse::Begin(const LayerTold& told, const RunDescription& run,
                        int64_t step, const LayerMoveRules::Table& table) {
  begun_ = true;
  // A record may tell the scale that its overflow left.
  const bool fell = told.stood == 1 && told.log2_scale < told.log2_before;
  const int updates = fell ? told.stood_before : told.stood - 1;
  const float scale = fell ? told.log2_before : told.log2_scale;
  for (int i = std::min<int>(updates, kBefore); i > 0; --i) {
    StepRecord good;
    good.step = step - i;
    Feed(scale, false, run, good, table, [](size_t) {});
  }
}

void LayerCourse::Feed(float log2_scale, bool overflow,
                       const RunDescription& run, const StepRecord& record,
                       const LayerMoveRules::Table& table,
                       const Changed& changed) {
  StepRecord own;
  own.step = record.step;
  own.time = record.time;
  own.present = 1u << static_cast<int>(StepField::kLossScale);
  own.value[static_cast<int>(StepField::kLossScale)] = ExactExp2(log2_scale);
  own.flags_present = FlagBit(StepFlag::kOverflow);
  if (overflow) {
    own.flags = FlagBit(StepFlag::kOverflow);
    // One that was not left out may still have been so for this layer.
    if (record.is(StepFlag::kSkipped)) {
      own.flags_present |= FlagBit(StepFlag::kSkipped);
      own.flags |= FlagBit(StepFlag::kSkipped);
    }
  }
  tracker_.OnStep(own);
  const StepOps none;
  const StepContext context{
      .run = run, .record = own, .scaler = tracker_, .ops = none};
  rules_.On(context, table, [&](size_t rule) { changed(rule); });
}

// A scaler that lowers a scale without an overflow follows statistics: only
// what overflows at its floor, and how often, is judged from here on.
void LayerCourse::FollowStatistics(const ScalerDeclaration& scaler,
                                   const Changed& changed) {
  statistical_ = true;
  tracker_ = {};
  tracker_.Declare(OwnScaler(scaler, "adaloss"));
  const LayerMoveRules before = std::exchange(rules_, {});
  for (size_t rule = 0; rule < LayerMoveRules::kSize; ++rule) {
    if (before.severity(rule) != Severity::kNone) changed(rule);
  }
}

void LayerCourse::Describe(size_t rule, Finding* finding) const {
  const Subject subject = finding->subject;
  rules_.Describe(rule, finding);
  finding->subject = subject;
  finding->sentence = OfLayer(subject.op, finding->sentence);
  finding->sentence_over = OfLayer(subject.op, finding->sentence_over);
  finding->numbers.push_back(
      {"layer_scale", ExactExp2(double{log2_scale_}), ""});
}

}  // namespace nanwatch
