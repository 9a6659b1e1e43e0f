// Findings and diagnoses as the tests of the incident book need them.

#ifndef NANWATCH_TESTS_UNIT_ALERT_BOOK_FIXTURE_H_
#define NANWATCH_TESTS_UNIT_ALERT_BOOK_FIXTURE_H_

#include <string>
#include <vector>

#include "alert/incident_book.h"

namespace nanwatch {

inline Time At(int64_t seconds) {
  return Time(std::chrono::seconds(1'700'000'000 + seconds));
}

inline Finding ScaleFinding(int rule, Severity severity, int64_t step) {
  Finding finding;
  finding.rule = RuleIdOf(rule);
  finding.family = Family::kScale;
  finding.subject.rank = 0;
  finding.severity = severity;
  finding.opened_step = step;
  finding.sentence = "scale finding " + std::to_string(rule);
  return finding;
}

inline Finding OpFinding(int rule, std::string op, Severity severity,
                         int64_t step) {
  Finding finding = ScaleFinding(rule, severity, step);
  finding.family = Family::kOp;
  finding.subject.op = std::move(op);
  finding.sentence = "op finding " + std::to_string(rule);
  return finding;
}

inline Diagnosis CausedBy(CauseVerdict verdict) {
  Diagnosis diagnosis;
  diagnosis.causes.push_back(std::move(verdict));
  return diagnosis;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_ALERT_BOOK_FIXTURE_H_
