#include "detect/told_since.h"

#include <algorithm>
#include <string_view>

#include "detect/sentence.h"
#include "model/setting_numbers.h"

namespace nanwatch {

bool ToldSince::Read(const TimeContext& c, const char* setting,
                     OpNameText* name) {
  SettingNumbers told(c.run, setting);
  int64_t step = 0;
  told.Next(&step);
  if (!told.whole()) return false;
  step_ = step;
  newest_ = c.last_step;
  if (name == nullptr) return true;
  std::string_view rest = told.rest();
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  name->Set(rest);
  return true;
}

void ToldSince::Describe(Finding* finding) const {
  finding->opened_step = step_;
  finding->last_step = std::max(newest_, step_);
}

std::string ToldSince::NotFinite(Tense tense) const {
  return Sentence(In(tense, "is not finite since", "was not finite from"),
                  " step ", step_, In(tense, "", " on"));
}

}  // namespace nanwatch
