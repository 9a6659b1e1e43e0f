#include "detect/nonfinite_tensor.h"

#include "detect/sentence.h"

namespace nanwatch {

Severity NonfiniteTensor::OnStatus(const OpStatus& status) {
  const uint64_t nan = status.get(OpCount::kNan).value_or(0);
  const uint64_t inf = status.get(OpCount::kPosInf).value_or(0) +
                       status.get(OpCount::kNegInf).value_or(0);
  if (nan + inf == 0) return episode_.severity();
  if (!episode_.open()) {
    nan_ = nan;
    inf_ = inf;
    elements_ = status.elements;
  }
  return episode_.On(Severity::kCritical, false, status.step, 1);
}

std::string NonfiniteTensor::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->numbers = {{"nan", static_cast<double>(nan_), "elements"},
                      {"inf", static_cast<double>(inf_), "elements"},
                      {"elements", static_cast<double>(elements_), "elements"}};
  return Sentence(nan_, " NaN and ", inf_, " infinite of ", elements_,
                  " elements");
}

}  // namespace nanwatch
