#include "tests/judge/random_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include "detect/all_rules.h"
#include "model/rule_id.h"

namespace nanwatch {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  bool One(double chance) { return Real() < chance; }
  double Real() { return std::uniform_real_distribution<double>()(random_); }
  int64_t Whole(int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random_);
  }
  uint64_t Count(int64_t most) { return static_cast<uint64_t>(Whole(0, most)); }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    const auto at = Whole(0, static_cast<int64_t>(values.size()) - 1);
    return *(values.begin() + at);
  }

 private:
  std::mt19937_64 random_;
};

constexpr const char* kOps[] = {"loss/Log",     "h.0.attn",       "h.0.attn.w",
                                "h.1.mlp",      "h.1.mlp.weight", "head",
                                "embed.weight", "all_reduce"};

std::string OpName(Dice& dice) { return kOps[dice.Whole(0, 7)]; }

Slot AnySlot(Dice& dice) {
  return static_cast<Slot>(dice.Whole(0, static_cast<int64_t>(kSlots) - 1));
}

OpEvidence MakeOp(Dice& dice, int64_t last_step) {
  OpEvidence op;
  op.op.name = OpName(dice);
  op.op.type = dice.Of({"", "Parameter", "Log"});
  op.op.dtype = dice.Of({Dtype::kFp16, Dtype::kBf16, Dtype::kFp32});
  op.slot = AnySlot(dice);
  op.rank = static_cast<int32_t>(dice.Whole(0, 2));
  op.first_bad_step = dice.Whole(0, last_step);
  op.last_bad_step = dice.Whole(op.first_bad_step, last_step);
  if (dice.One(0.5)) {
    op.last_beyond_step = dice.Whole(op.first_bad_step, op.last_bad_step);
  }
  if (dice.One(0.4)) {
    op.first_kept_step = dice.Whole(op.first_bad_step, op.last_bad_step);
    op.kept_nan = dice.Count(2);
  }
  if (dice.One(0.6)) op.first_bad_order = dice.Whole(0, 9);
  op.first_inputs_clean = dice.One(0.3);
  op.first_inputs_bad = !op.first_inputs_clean && dice.One(0.3);
  op.updates = dice.Count(80) + 1;
  op.bad_updates = dice.One(0.4)
                       ? op.updates
                       : dice.Count(static_cast<int64_t>(op.updates) - 1) + 1;
  op.bad_statuses = op.bad_updates;
  op.clean_statuses = dice.One(0.5) ? 0 : dice.Count(20);
  if (dice.One(0.4)) op.outcomes = {dice.Count(50), dice.Count(5)};
  if (dice.One(0.2)) op.outcomes_of_worst = {dice.Count(50), dice.Count(5)};
  if (dice.One(0.2)) op.newest_of_worst = {dice.Count(50), dice.Count(5)};
  op.fine_steps = dice.Count(12);
  if (dice.One(0.5)) op.nan = dice.Count(100);
  if (dice.One(0.5)) op.inf = dice.Count(100);
  if (dice.One(0.2)) op.saturated = dice.Count(100);
  op.bad_elements_max = op.nan + op.inf + op.saturated;
  if (dice.One(0.3)) {
    op.padding = dice.Count(200);
    op.op.logical_shape = {10, 6};
    op.op.storage_shape = {1, 63, 16, 16};
    op.logical_statuses = dice.Count(3);
    op.logical_bad = dice.One(0.8) ? 0 : 1;
  }
  op.flag_only = dice.One(0.9) ? 0 : 1;
  if (dice.One(0.6)) {
    op.scale_max = std::exp2(dice.Whole(0, 20));
    op.scale_min = *op.scale_max / std::exp2(dice.Whole(0, 10));
  }
  return op;
}

OutlierBatches MakeOutliers(Dice& dice, int64_t last_step) {
  OutlierBatches of;
  of.rank = static_cast<int32_t>(dice.Whole(0, 2));
  of.count = dice.Count(3) + 1;
  of.overflows = dice.Count(static_cast<int64_t>(of.count));
  of.first_step = dice.Whole(0, last_step);
  of.steps[0] = dice.Whole(of.first_step, last_step);
  if (dice.One(0.2)) of.pending_step = last_step;
  if (dice.One(0.3)) of.other_loss_step = dice.Whole(0, last_step);
  if (dice.One(0.3)) of.other_norm_steps[0] = dice.Whole(0, last_step);
  of.loss = 9.5;
  of.usual = 2.25;
  of.gradients = static_cast<OutlierBatches::Gradients>(dice.Whole(0, 3));
  of.skipped = dice.One(0.3);
  of.applied = !of.skipped && dice.One(0.5);
  return of;
}

void AddNumbers(Dice& dice, Finding* finding) {
  static constexpr const char* kNames[] = {"grown_from",
                                           "streak",
                                           "headroom",
                                           "zeroed_tensors",
                                           "first_loss",
                                           "recommended_scale",
                                           "grad_norm",
                                           "alone",
                                           "flipped",
                                           "abs_max",
                                           "abs_max_before",
                                           "abs_max_of_others",
                                           "loss_before_restart",
                                           "scale_before",
                                           "scale",
                                           "last_usable_scale",
                                           "layer_scale",
                                           "nan",
                                           "dropped_steps",
                                           "missing_steps"};
  if (finding->rule == RuleId::kUpdateRatio) {
    finding->numbers.push_back({"ratio", dice.One(0.5) ? 1e-5 : 0.5, ""});
  }
  const int64_t count = dice.Whole(0, 3);
  for (int64_t i = 0; i < count; ++i) {
    const double value = dice.One(0.1) ? kNan : std::exp2(dice.Whole(-12, 24));
    finding->numbers.push_back({kNames[dice.Whole(0, 19)], value, ""});
  }
}

Finding MakeFinding(Dice& dice, int64_t last_step) {
  const auto rules = AllRules();
  const RuleSpec& spec = *rules[static_cast<size_t>(
      dice.Whole(0, static_cast<int64_t>(rules.size()) - 1))];
  Finding finding;
  finding.rule = spec.id;
  finding.family = spec.family;
  finding.severity = static_cast<Severity>(dice.Whole(1, 3));
  finding.opened_step = dice.Whole(0, last_step);
  finding.last_step = dice.Whole(finding.opened_step, last_step);
  finding.subject.rank = static_cast<int32_t>(dice.Whole(-1, 2));
  const bool of_op = kBadOp.has(spec.id) || spec.family == Family::kWeight ||
                     spec.family == Family::kFp8;
  if (of_op ? dice.One(0.95) : dice.One(0.15)) {
    finding.subject.op = OpName(dice);
    finding.subject.slot = AnySlot(dice);
  }
  finding.sentence = "Sentence of rule " + std::string(spec.name) + ".";
  AddNumbers(dice, &finding);
  return finding;
}

void SetSteps(Dice& dice, RunEvidence* e) {
  e->updates = dice.One(0.05) ? 0 : dice.Count(2000) + 1;
  const auto most = [&](uint64_t of) {
    return dice.Count(static_cast<int64_t>(of));
  };
  e->updates_before = dice.One(0.8) ? 0 : dice.Count(100);
  e->steps_between = dice.One(0.2);
  e->overflows = dice.One(0.3) ? 0 : most(e->updates);
  e->skipped = dice.One(0.5) ? e->overflows : most(e->overflows);
  e->applied = e->updates - e->skipped;
  e->updates_last_50 = std::min<uint64_t>(e->updates, 50);
  e->overflows_last_50 = std::min(most(e->updates_last_50), e->overflows);
  if (dice.One(0.2)) e->overflows_last_50 = 0;
  e->skipped_last_50 =
      dice.One(0.5) ? e->overflows_last_50 : most(e->updates_last_50);
  e->applied_last_50 = e->updates_last_50 - e->skipped_last_50;
  e->overflow_streak = dice.One(0.5) ? 0 : most(e->overflows_last_50);
  if (dice.One(0.2)) {
    e->applied_overflows = most(e->overflows);
    e->applied_overflows_last_50 = most(e->overflows_last_50);
  }
  if (e->overflows > 0) {
    e->first_overflow_step = dice.Whole(0, e->last_step);
    e->last_overflow_step = dice.Whole(e->first_overflow_step, e->last_step);
  }
  if (dice.One(0.8)) e->first_good_step = dice.Whole(0, e->last_step);
}

void SetValues(Dice& dice, RunEvidence* e) {
  e->loss_finite = dice.One(0.1) ? 0 : dice.Count(100);
  if (dice.One(0.3)) {
    e->loss_nonfinite = dice.Count(5) + 1;
    e->first_nonfinite_loss_step = dice.Whole(0, e->last_step);
    e->last_nonfinite_loss_step =
        dice.Whole(e->first_nonfinite_loss_step, e->last_step);
    if (dice.One(0.6)) {
      e->first_kept_nonfinite_loss_step =
          dice.Whole(e->first_nonfinite_loss_step, e->last_nonfinite_loss_step);
    }
    e->nonfinite_loss_rank = static_cast<int32_t>(dice.Whole(0, 2));
    if (dice.One(0.5)) e->nonfinite_loss_place = "node-1, npu3";
  }
  e->grad_norm_finite = dice.Count(50);
  e->grad_norm_nonfinite = dice.One(0.6) ? 0 : dice.Count(5);
  e->grad_norm_nan = e->grad_norm_nonfinite;
  e->grad_norm_finite_while_overflow = dice.One(0.7) ? 0 : dice.Count(5);
  e->loss_finite_while_overflow = dice.Count(2);
  if (dice.One(0.5)) {
    e->underflow_fraction = dice.Of({0.0, 1e-6, 0.005, 0.02, 0.2});
  }
}

void SetScale(Dice& dice, RunEvidence* e) {
  e->scaler_dynamic = dice.One(0.6);
  e->scaler_recognised = dice.One(0.5);
  e->in_grace = dice.One(0.2);
  if (dice.One(0.8)) {
    e->scale_max = std::exp2(dice.Whole(0, 24));
    e->scale_first = *e->scale_max;
    e->scale_min =
        dice.One(0.3) ? *e->scale_max : std::exp2(dice.Whole(-20, 8));
    e->scale_now =
        dice.One(0.7) ? *e->scale_min : std::exp2(dice.Whole(-20, 24));
    if (dice.One(0.03)) e->scale_now = dice.Of({-1.0, kNan, 0.0});
    if (dice.One(0.6)) e->scale_worked = std::exp2(dice.Whole(0, 20));
  }
  e->floor = dice.Of({0.0, 1.0, 128.0});
  e->scaler = dice.Of({"", "pytorch", "megatron", "deepspeed"});
  if (dice.One(0.3)) e->updates_to_floor = dice.Whole(1, 30);
  e->impossible_transitions = dice.One(0.8) ? 0 : dice.Count(3);
  e->good_steps = dice.One(0.2) ? 0 : dice.Count(500);
}

void SetEarlier(Dice& dice, RunEvidence* e) {
  if (!dice.One(0.3)) return;
  // One without a tense: the reference knew tenses by their phrases.
  e->earlier = "Sentence of an earlier incident.";
  e->earlier_cause = dice.One(0.4)
                         ? Cause::kDivergence
                         : static_cast<Cause>(dice.Whole(0, kCauses - 1));
  const auto rules = AllRules();
  e->earlier_rule = dice.One(0.4)
                        ? RuleId::kLossSpike
                        : rules[static_cast<size_t>(dice.Whole(0, 50))]->id;
  e->earlier_from = dice.Whole(0, e->last_step);
  if (dice.One(0.5)) e->earlier_to = dice.Whole(e->earlier_from, e->last_step);
}

}  // namespace

RandomCase MakeRandomCase(uint64_t seed) {
  Dice dice(seed);
  RandomCase c;
  RunEvidence& e = c.evidence;
  c.run.framework = dice.Of({"", "pytorch", "megatron+deepspeed", "ascend_tf"});
  c.run.precision = dice.Of({"", "fp16", "bf16"});
  c.run.scaler.kind = static_cast<ScalingKind>(dice.Whole(0, 3));
  if (dice.One(0.2)) c.run.scaler.overflow_check = dice.One(0.5);
  if (dice.One(0.15)) c.run.overflow_mode = OverflowMode::kSaturation;
  if (dice.One(0.1)) c.run.settings["nonfinite_loss"] = "kl";
  e.last_step = dice.Whole(1, dice.Of({30, 300, 3000}));
  e.world_size = static_cast<int32_t>(dice.Whole(1, 3));
  if (dice.One(0.1)) e.optimizer = "D";
  SetSteps(dice, &e);
  SetValues(dice, &e);
  SetScale(dice, &e);
  SetEarlier(dice, &e);
  e.ops_collected = dice.One(0.6);
  if (e.ops_collected) {
    const int64_t count = dice.One(0.03) ? 64 : dice.Whole(0, 5);
    for (int64_t i = 0; i < count; ++i) {
      e.ops.push_back(MakeOp(dice, e.last_step));
    }
    e.downstream_clean = dice.One(0.3);
  }
  if (dice.One(0.15)) {
    const int64_t count = dice.Whole(1, 2);
    for (int64_t i = 0; i < count; ++i) {
      e.outliers.push_back(MakeOutliers(dice, e.last_step));
    }
  }
  e.ranks_lost = dice.One(0.9) ? 0 : 1;
  e.dropped_steps = dice.One(0.9) ? 0 : 4;
  if (dice.One(0.2)) {
    e.suspect_rank = static_cast<int32_t>(dice.Whole(0, 2));
    e.suspect_place = "node-2, npu1";
  }
  const int64_t findings = dice.Of<int64_t>({0, 1, 2, 4, 8, 14});
  for (int64_t i = 0; i < findings; ++i) {
    c.findings.push_back(MakeFinding(dice, e.last_step));
  }
  return c;
}

}  // namespace nanwatch
