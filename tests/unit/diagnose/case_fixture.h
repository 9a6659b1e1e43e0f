// Runs as the diagnosis sees them.

#ifndef NANWATCH_TESTS_UNIT_DIAGNOSE_CASE_FIXTURE_H_
#define NANWATCH_TESTS_UNIT_DIAGNOSE_CASE_FIXTURE_H_

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "detect/all_rules.h"
#include "detect/rules.h"
#include "diagnose/causes.h"
#include "diagnose/diagnose.h"

namespace nanwatch {

// Those of every rule at its default.
inline const RuleThresholds& Thresholds() {
  static const RuleTables* const tables = new RuleTables(DefaultRules());
  return tables->in_force();
}

struct TestCase {
  RunDescription run;
  RunEvidence evidence;
  std::vector<Finding> findings;

  // No cause explains a rule that the catalog does not give it.
  Diagnosis Verdict() const {
    Diagnosis diagnosis = Diagnose(run, evidence, findings, Thresholds());
    for (const CauseVerdict& verdict : diagnosis.causes) {
      for (const CauseSpec& spec : AllCauses()) {
        if (spec.cause != verdict.cause) continue;
        EXPECT_TRUE((verdict.rules - spec.rules).empty()) << Name(spec.cause);
      }
    }
    return diagnosis;
  }

  Finding& Find(int rule, Family family, Severity severity,
                std::string op = "") {
    Finding& finding = findings.emplace_back();
    finding.rule = RuleIdOf(rule);
    finding.family = family;
    finding.severity = severity;
    finding.subject.rank = 0;
    finding.subject.op = std::move(op);
    finding.opened_step = 3;
    finding.sentence = "finding of rule " + std::to_string(rule) + ".";
    return finding;
  }
  OpEvidence& Op(std::string name, Slot slot) {
    OpEvidence& op = evidence.ops.emplace_back();
    op.op.name = name;
    op.op.type = name;
    op.slot = slot;
    op.rank = 0;
    evidence.ops_collected = true;
    return op;
  }
};

// word2vec on Ascend after 600 steps: a Log over padding overflows at each.
inline TestCase Word2vec() {
  TestCase t;
  t.run.framework = "ascend_tf";
  t.run.overflow_mode = OverflowMode::kSaturation;
  RunEvidence& e = t.evidence;
  e.updates = e.overflows = e.skipped = 600;
  e.updates_last_50 = e.overflows_last_50 = e.skipped_last_50 = 50;
  e.overflow_streak = 50;
  e.first_overflow_step = 0;
  e.last_overflow_step = e.last_step = 599;
  e.loss_finite = e.loss_finite_while_overflow = 600;
  e.grad_norm_finite = e.grad_norm_finite_while_overflow = 600;
  e.scale_first = e.scale_max = 4294967296.0;
  e.scale_now = e.scale_min = 1.0;
  e.floor = 1;
  e.scaler = "ascend_tf";
  e.scaler_dynamic = true;
  OpEvidence& op = t.Op("Log", Slot::kOutput);
  op.op.data_format = "FRACTAL_NZ";
  op.op.logical_shape = {1000, 6};
  op.op.storage_shape = {1008, 16};
  op.padding = 10128;
  op.first_bad_step = 0;
  op.last_bad_step = 599;
  op.bad_statuses = op.bad_updates = op.updates = 600;
  op.saturated = op.bad_elements_max = 10128;
  op.clean_statuses = 600;
  op.logical_statuses = 600;
  op.scale_max = 4294967296.0;
  op.scale_min = 1.0;
  t.Find(21, Family::kOp, Severity::kWarning, "Log");
  t.Find(20, Family::kOp, Severity::kCritical, "Log");
  t.Find(8, Family::kScale, Severity::kCritical);
  t.Find(1, Family::kScale, Severity::kCritical);
  t.Find(5, Family::kScale, Severity::kCritical);
  t.Find(7, Family::kScale, Severity::kCritical);
  return t;
}

// The same after the cure: fixed scale, overflow check off.
inline TestCase Cured() {
  TestCase t = Word2vec();
  t.run.scaler.kind = ScalingKind::kStatic;
  t.run.scaler.overflow_check = false;
  RunEvidence& e = t.evidence;
  e.skipped = e.skipped_last_50 = 0;
  e.applied = 600;
  e.applied_last_50 = 50;
  e.scaler_dynamic = false;
  e.scale_first = e.scale_max = e.scale_min = e.scale_now = 1024.0;
  e.ops[0].scale_max = e.ops[0].scale_min = 1024.0;
  t.findings.clear();
  t.Find(21, Family::kOp, Severity::kWarning, "Log");
  t.Find(5, Family::kScale, Severity::kCritical);
  return t;
}

inline Severity Worst(const TestCase& t) {
  const Diagnosis diagnosis = t.Verdict();
  Severity worst = Severity::kNone;
  for (const Finding& finding : t.findings) {
    worst = std::max(worst, UnderCeiling(diagnosis, finding));
  }
  return worst;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_DIAGNOSE_CASE_FIXTURE_H_
