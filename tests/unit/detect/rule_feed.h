// What the rules' tests share: one rule with its default thresholds, fed by
// hand.

#ifndef NANWATCH_TESTS_UNIT_DETECT_RULE_FEED_H_
#define NANWATCH_TESTS_UNIT_DETECT_RULE_FEED_H_

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "detect/context.h"
#include "detect/step_series.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

inline constexpr double kNan = NAN;
inline constexpr double kInf = INFINITY;

template <typename Rule>
std::vector<double> DefaultsOf() {
  std::vector<double> values;
  for (const ThresholdSpec& t : Rule::kSpec.thresholds) {
    values.push_back(t.value);
  }
  return values;
}

inline ScalerDeclaration Scaler(const char* name) {
  ScalerDeclaration d;
  d.kind = ScalingKind::kDynamic;
  d.name = name;
  return d;
}
inline ScalerDeclaration FixedScale(std::optional<bool> check = {}) {
  ScalerDeclaration d;
  d.kind = ScalingKind::kStatic;
  d.overflow_check = check;
  return d;
}
inline ScalerDeclaration NoScaler() {
  ScalerDeclaration d;
  d.kind = ScalingKind::kNone;
  return d;
}

// Absent unless set.
struct Update {
  std::optional<double> scale;
  std::optional<bool> overflow;
  std::optional<bool> skipped;
  std::optional<double> loss;
  std::optional<double> grad_norm;
  std::optional<double> update_norm{};
  std::optional<double> param_norm{};
  std::optional<double> learning_rate{};
  std::optional<uint64_t> digest{};
  std::optional<double> zero_fraction{};
  std::optional<double> underflow_fraction{};
  std::optional<double> applied_grad_norm{};
  UpdateFault fault = UpdateFault::kNone;
  std::string of{};
  std::optional<double> stuck{};
  bool fresh = false;  // its gradients are made anew
  int64_t unseen = 0;  // steps before this one that were not recorded
};

inline StepRecord RecordOf(const Update& a, int64_t step) {
  StepRecord r;
  r.step = step;
  const auto set = [&](StepField f, std::optional<double> v) {
    if (!v) return;
    r.present |= 1u << static_cast<int>(f);
    r.value[static_cast<int>(f)] = *v;
  };
  const auto flag = [&](StepFlag f, std::optional<bool> v) {
    if (!v) return;
    const auto bit = static_cast<uint8_t>(1u << static_cast<int>(f));
    r.flags_present |= bit;
    if (*v) r.flags |= bit;
  };
  set(StepField::kLossScale, a.scale);
  set(StepField::kLoss, a.loss);
  set(StepField::kGradNorm, a.grad_norm);
  set(StepField::kUpdateNorm, a.update_norm);
  set(StepField::kParamNorm, a.param_norm);
  set(StepField::kLearningRate, a.learning_rate);
  set(StepField::kZeroFraction, a.zero_fraction);
  set(StepField::kUnderflowFraction, a.underflow_fraction);
  set(StepField::kAppliedGradNorm, a.applied_grad_norm);
  r.replica_digest = a.digest;
  flag(StepFlag::kOverflow, a.overflow);
  flag(StepFlag::kSkipped, a.skipped);
  return r;
}

// The context of a record that `tracker` has seen, and `series` sees here.
inline StepContext ContextOf(const RunDescription& run,
                             const StepRecord& record,
                             const ScalerTracker& tracker, const StepOps& ops,
                             StepSeries* series) {
  const auto log = [&](StepField field) {
    return Series::LogOf(static_cast<float>(record[field]));
  };
  series->Add(run, record, {log(StepField::kLoss), log(StepField::kGradNorm)},
              tracker);
  StepContext context{run, record, tracker, ops};
  context.loss = &series->loss;
  context.grad_norm = &series->grad_norm;
  context.at_rest = &series->at_rest;
  context.last_loss = series->last_loss;
  context.norm_taken = series->norm_taken;
  context.rate = &series->rate;
  return context;
}

// A rule on steps: records 1, 2, 3, ... of one rank.
template <typename Rule>
class StepFeed {
 public:
  explicit StepFeed(const ScalerDeclaration& scaler = {}) {
    run.scaler = scaler;
    tracker.Declare(scaler);
  }
  Severity Step(const Update& update) {
    step += 1 + update.unseen;
    StepRecord record = RecordOf(update, step);
    record.fresh_gradients = update.fresh;
    const UpdateFacts facts{0, update.fault, update.stuck, update.of};
    if (update.fault != UpdateFault::kNone || update.stuck) {
      record.update = &facts;
    }
    tracker.OnStep(record);
    const StepOps ops;
    StepContext context = ContextOf(run, record, tracker, ops, &series);
    if (gradients) context.gradients = &*gradients;
    context.lowest_name = "small";
    context.largest_name = "large";
    if (gradients && gradients->zeroed >= 0) context.zeroed_name = "zeroed";
    if (layers) context.layers = &*layers;
    context.first_step = first_step;
    if (before) context.loss_before = &*before;
    context.loss_returns = loss_returns;
    context.norm_warns = norm_warns;
    context.level = level;
    now = rule.OnStep(context, Table());
    worst = std::max(worst, now);
    return now;
  }
  // Nothing follows.
  Severity End() {
    now = rule.OnEnd(Table());
    worst = std::max(worst, now);
    return now;
  }
  Thresholds Table() {
    logs.clear();
    for (const double value : thresholds) logs.push_back(LnOf(value));
    return {thresholds.data(), logs.data()};
  }
  Severity Steps(const Update& update, int times) {
    for (int i = 0; i < times; ++i) Step(update);
    return now;
  }
  Severity Scale(double scale, bool overflow) {
    return Step({.scale = scale, .overflow = overflow});
  }
  Severity Good(double scale, int times) {
    return Steps({.scale = scale, .overflow = false}, times);
  }
  // `times` overflows, each of which halves; the last scale.
  double Fall(double from, int times) {
    for (int i = 0; i < times; ++i) Scale(from /= 2, true);
    return from;
  }
  Finding Described() const {
    Finding finding;
    rule.Describe(&finding);
    return finding;
  }

  Rule rule;
  std::vector<double> thresholds = DefaultsOf<Rule>();
  std::vector<float> logs;  // of those
  RunDescription run;
  ScalerTracker tracker;
  StepSeries series;
  std::optional<StepGradients> gradients;  // of the steps that follow
  std::optional<StepLayers> layers;        // likewise
  std::optional<LossReached> before;       // of the attempt before
  bool loss_returns = false;               // as of the record before
  LevelKind level = LevelKind::kKept;
  bool norm_warns = false;  // likewise
  int64_t step = 0;
  int64_t first_step = 1;
  Severity now = Severity::kNone;
  Severity worst = Severity::kNone;
};

// A rule on ops: statuses of one op, an update each.
template <typename Rule>
class OpFeed {
 public:
  explicit OpFeed(const ScalerDeclaration& scaler = {}) {
    run.scaler = scaler;
    tracker.Declare(scaler);
    op.name = "layer";
    op.dtype = Dtype::kFp16;
    status.slot = Slot::kOutput;
    status.elements = 1000;
  }
  // The step record goes first, then the status of the same update.
  void Record(const Update& update) {
    record = RecordOf(update, ++step);
    tracker.OnStep(record);
  }
  Severity Status() {
    status.step = step;
    now = rule.OnOp({run, op, status, inputs, &record, tracker,
                     tracker.updates(), trend, masked_ops},
                    {thresholds.data()});
    return now;
  }
  Severity Both(const Update& update) {
    Record(update);
    return Status();
  }
  void Count(OpCount count, uint64_t n) {
    status.count[static_cast<int>(count)] = n;
  }
  void Stat(OpStat stat, float value) {
    status.stat[static_cast<int>(stat)] = value;
  }
  Finding Described() const {
    Finding finding;
    rule.Describe(&finding);
    return finding;
  }

  Rule rule;
  std::vector<double> thresholds = DefaultsOf<Rule>();
  RunDescription run;
  OpName op;
  OpStatus status;
  InputState inputs = InputState::kNotCollected;
  OpTrend trend;
  std::vector<std::string> masked_ops;
  ScalerTracker tracker;
  StepRecord record;
  int64_t step = 0;
  Severity now = Severity::kNone;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_DETECT_RULE_FEED_H_
