#include "detect/told_since.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "detect/sentence.h"

namespace nanwatch {

bool ToldSince::Read(const TimeContext& c, const std::string& setting,
                     OpNameText* name) {
  const auto told = c.run.settings.find(setting);
  if (told == c.run.settings.end()) return false;
  const char* const end = told->second.data() + told->second.size();
  int64_t step = 0;
  const auto read = std::from_chars(told->second.data(), end, step);
  if (read.ec != std::errc()) return false;
  step_ = step;
  newest_ = c.last_step;
  if (name == nullptr) return true;
  std::string_view rest(read.ptr, static_cast<size_t>(end - read.ptr));
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
