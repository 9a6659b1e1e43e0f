#include "logs/compact_name.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

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

namespace {

// Gathers the words of `name` that `keeps` says, compact, in `*out`. Returns
// their size; nullopt: they have no room.
template <typename Keeps>
std::optional<size_t> Gather(std::string_view name, NameRoom* out,
                             Keeps keeps) {
  size_t size = 0;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && IsAlphanumeric(name[end])) ++end;
    NameRoom room;
    const std::string_view word = Compact(name.substr(at, end - at), &room);
    at = end + 1;
    if (!keeps(word)) continue;
    if (size + word.size() > out->size()) return std::nullopt;
    std::copy(word.begin(), word.end(), out->begin() + size);
    size += word.size();
  }
  return size;
}

bool IsNumber(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), IsDigit);
}

}  // namespace

CoreName CoreOf(std::string_view name, NameRoom* out) {
  static constexpr std::string_view kMeans[] = {
      "avg", "average", "mean", "running", "smooth", "smoothed", "ema"};
  static constexpr std::string_view kOthers[] = {
      "raw", "cur", "current", "g", "trn", "tr", "train", "training"};
  CoreName core;
  const auto size = Gather(name.substr(0, name.find_first_of("[(")), out,
                           [&core](std::string_view word) {
                             const bool mean = IsOneOf(word, kMeans);
                             const bool number = IsNumber(word);
                             core.mean |= mean;
                             core.numbered |= number;
                             return !mean && !number && !IsOneOf(word, kOthers);
                           });
  if (!size) return {};
  core.text = {out->data(), *size};
  return core;
}

std::string_view CoreOfEvaluation(std::string_view name, NameRoom* out) {
  static constexpr std::string_view kSets[] = {
      "val",        "vali", "vald", "valid",   "validation", "eval",
      "evaluation", "va",   "test", "holdout", "dev"};
  bool of_set = false;
  const auto size = Gather(name, out, [&of_set](std::string_view word) {
    const bool set = IsOneOf(word, kSets);
    of_set |= set;
    return !set && !IsNumber(word);
  });
  return size && of_set ? std::string_view(out->data(), *size)
                        : std::string_view();
}

}  // namespace nanwatch
