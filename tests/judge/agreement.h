// How two diagnoses differ.

#ifndef NANWATCH_TESTS_JUDGE_AGREEMENT_H_
#define NANWATCH_TESTS_JUDGE_AGREEMENT_H_

#include <string>

#include "model/diagnosis.h"

namespace nanwatch {

inline std::string Difference(const Diagnosis& was, const Diagnosis& now) {
  if (was.headline != now.headline) {
    return "headline\n  " + was.headline + "\n  " + now.headline;
  }
  const auto list = [](const Diagnosis& d) {
    std::string text;
    for (const CauseVerdict& c : d.causes)
      text += std::string(Name(c.cause)) + " ";
    return text;
  };
  if (list(was) != list(now))
    return "causes\n  " + list(was) + "\n  " + list(now);
  for (size_t i = 0; i < was.causes.size(); ++i) {
    const CauseVerdict& a = was.causes[i];
    const CauseVerdict& b = now.causes[i];
    const std::string of(Name(a.cause));
    if (a.grade != b.grade) return of + " grade";
    if (a.rules != b.rules) {
      std::string text = of + " rules";
      for (const RuleId r : a.rules - b.rules)
        text += " -" + std::to_string(NumberOf(r));
      for (const RuleId r : b.rules - a.rules)
        text += " +" + std::to_string(NumberOf(r));
      return text;
    }
    if (a.uncapped != b.uncapped) return of + " uncapped";
    if (a.ceiling != b.ceiling) return of + " ceiling";
    if (a.origin != b.origin) return of + " origin";
    if (a.op_type != b.op_type || a.op_dtype != b.op_dtype) return of + " type";
    if (a.step != b.step) return of + " step";
    if (a.rule != b.rule) return of + " rule";
    if (a.ops != b.ops || a.unlisted_ops != b.unlisted_ops) return of + " ops";
    if (a.sentence != b.sentence)
      return of + "\n  " + a.sentence + "\n  " + b.sentence;
    if (a.evidence.size() != b.evidence.size()) return of + " evidence count";
    for (size_t k = 0; k < a.evidence.size(); ++k) {
      if (a.evidence[k].grade != b.evidence[k].grade ||
          a.evidence[k].sentence != b.evidence[k].sentence)
        return of + " evidence\n  " + a.evidence[k].sentence + "\n  " +
               b.evidence[k].sentence;
    }
    if (a.actions.size() != b.actions.size()) return of + " action count";
    for (size_t k = 0; k < a.actions.size(); ++k) {
      if (a.actions[k].framework != b.actions[k].framework ||
          a.actions[k].sentence != b.actions[k].sentence)
        return of + " action\n  " + a.actions[k].sentence + "\n  " +
               b.actions[k].sentence;
    }
  }
  return "";
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_JUDGE_AGREEMENT_H_
