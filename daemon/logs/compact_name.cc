#include "logs/compact_name.h"

#include <algorithm>

#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

bool IsAlphanumeric(char c) { return IsLetter(c) || IsDigit(c); }

}  // namespace

std::string_view Compact(std::string_view name, NameRoom* out) {
  size_t size = 0;
  for (const char c : name) {
    if (!IsAlphanumeric(c)) continue;
    if (size == out->size()) return "";
    (*out)[size++] = Lower(c);
  }
  return {out->data(), size};
}

CoreName CoreOf(std::string_view name, NameRoom* out) {
  static constexpr std::string_view kMeans[] = {
      "avg", "average", "mean", "running", "smooth", "smoothed", "ema"};
  static constexpr std::string_view kOthers[] = {
      "raw", "cur", "current", "g", "trn", "tr", "train", "training"};
  CoreName core;
  size_t size = 0;
  name = name.substr(0, name.find_first_of("[("));
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && IsAlphanumeric(name[end])) ++end;
    NameRoom room;
    const std::string_view word = Compact(name.substr(at, end - at), &room);
    at = end + 1;
    const bool mean = IsOneOf(word, kMeans);
    const bool number =
        !word.empty() && std::all_of(word.begin(), word.end(), IsDigit);
    core.mean |= mean;
    core.numbered |= number;
    if (mean || number || IsOneOf(word, kOthers)) continue;
    if (size + word.size() > out->size()) return {};
    std::copy(word.begin(), word.end(), out->begin() + size);
    size += word.size();
  }
  core.text = {out->data(), size};
  return core;
}

std::string_view CoreOfEvaluation(std::string_view name, NameRoom* out) {
  static constexpr std::string_view kSets[] = {
      "val", "valid", "validation", "eval", "evaluation",
      "va",  "test",  "holdout",    "dev"};
  bool of_set = false;
  size_t size = 0;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && IsAlphanumeric(name[end])) ++end;
    NameRoom room;
    const std::string_view word = Compact(name.substr(at, end - at), &room);
    at = end + 1;
    const bool set = IsOneOf(word, kSets);
    of_set |= set;
    if (set || std::all_of(word.begin(), word.end(), IsDigit)) continue;
    if (size + word.size() > out->size()) return {};
    std::copy(word.begin(), word.end(), out->begin() + size);
    size += word.size();
  }
  return of_set ? std::string_view(out->data(), size) : std::string_view();
}

}  // namespace nanwatch
