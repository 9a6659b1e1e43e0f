#include "dumps/npy_place.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "dumps/dump_place.h"

namespace nanwatch {
namespace {

using Parts = std::vector<std::string_view>;

Parts SplitAtDots(std::string_view text) {
  Parts parts;
  for (size_t dot = text.find('.'); dot != std::string_view::npos;
       dot = text.find('.')) {
    parts.push_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  parts.push_back(text);
  return parts;
}

// The text from the first of these parts to the last, both of one text.
std::string Joined(const Parts& parts, size_t begin, size_t end) {
  if (begin == end) return "";
  const char* last = parts[end - 1].data() + parts[end - 1].size();
  return {parts[begin].data(), last};
}

// Where "input" or "output" and a number stand; the end: nowhere.
size_t FindSlot(const Parts& parts) {
  for (size_t i = parts.size() - 1; i > 0; --i) {
    const std::string_view word = parts[i - 1];
    if ((word == "input" || word == "output") && DigitsOf(parts[i])) {
      return i - 1;
    }
  }
  return parts.size();
}

// Microseconds since 1970 have 16 digits, seconds 10.
bool IsTime(std::string_view digits) {
  return digits.size() >= 10 && DigitsOf(digits).has_value();
}

// TYPE.OP.TASK.STREAM.TIME before `slot`.
bool TakeDevices(const Parts& parts, size_t slot, NpyPlace* place) {
  if (slot == parts.size() || slot < 5 || !IsTime(parts[slot - 1]) ||
      !DigitsOf(parts[slot - 2]) || !DigitsOf(parts[slot - 3])) {
    return false;
  }
  place->type = parts[0];
  place->name = Joined(parts, 1, slot - 3);
  place->time = DigitsOf(parts[slot - 1]);
  place->stream = *DigitsOf(parts[slot - 2]);
  place->task = *DigitsOf(parts[slot - 3]);
  place->slot = parts[slot] == "input" ? Slot::kInput : Slot::kOutput;
  place->index = *DigitsOf(parts[slot + 1]);
  return true;
}

// OP.0.TIME.
bool TakeTensorFlows(const Parts& parts, NpyPlace* place) {
  const size_t n = parts.size();
  if (n < 3 || !IsTime(parts[n - 1]) || !DigitsOf(parts[n - 2])) return false;
  place->name = Joined(parts, 0, n - 2);
  place->time = DigitsOf(parts[n - 1]);
  place->index = *DigitsOf(parts[n - 2]);
  return true;
}

// API.0.forward before `slot`.
bool TakeMsprobes(const Parts& parts, size_t slot, NpyPlace* place) {
  if (slot == parts.size() || slot < 2) return false;
  const bool forward = parts[slot - 1] == "forward";
  if (!forward && parts[slot - 1] != "backward") return false;
  const bool given = parts[slot] == "input";
  place->slot = forward ? (given ? Slot::kInput : Slot::kOutput)
                        : (given ? Slot::kGradOutput : Slot::kGradInput);
  place->name = Joined(parts, 0, slot - 1);
  place->index = *DigitsOf(parts[slot + 1]);
  return true;
}

// Compares runs of digits as numbers.
bool IsNaturallyBefore(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    size_t i_end = i, j_end = j;
    while (i_end < a.size() && is_digit(a[i_end])) ++i_end;
    while (j_end < b.size() && is_digit(b[j_end])) ++j_end;
    while (i < i_end && a[i] == '0') ++i;
    while (j < j_end && b[j] == '0') ++j;
    const std::string_view x = a.substr(i, i_end - i);
    const std::string_view y = b.substr(j, j_end - j);
    if (x != y) {
      return std::pair(x.size(), x) < std::pair(y.size(), y);
    }
    i = i_end;
    j = j_end;
  }
  return std::pair(a.size() - i, a) < std::pair(b.size() - j, b);
}

}  // namespace

NpyPlace PlaceOfNpy(std::string_view path) {
  if (path.ends_with(".npy")) path.remove_suffix(4);
  DumpPlace around = PlaceOfDump(path);
  NpyPlace place;
  place.rank = around.rank.value_or(0);
  const Parts parts = SplitAtDots(around.file);
  const size_t slot = FindSlot(parts);
  if (TakeDevices(parts, slot, &place)) {
    // TIME/DEVICE/MODEL/MODEL_ID/STEP/, or NET/GRAPH/STEP/.
    if (!around.step && !around.folders.empty()) {
      around.step = DigitsOf(around.folders.back());
    }
  } else if (!TakeTensorFlows(parts, &place) &&
             !TakeMsprobes(parts, slot, &place)) {
    for (const std::string& folder : around.folders) {
      place.name += folder + '/';
    }
    place.name += around.file;
  }
  place.step = around.step.value_or(0);
  return place;
}

bool IsBefore(const NpyPlace& a, const NpyPlace& b) {
  const auto when = [](const NpyPlace& p) {
    return std::tuple(p.step, p.time.value_or(0));
  };
  if (when(a) != when(b)) return when(a) < when(b);
  if (a.name != b.name) return IsNaturallyBefore(a.name, b.name);
  return std::tuple(a.slot, a.index, a.type) <
         std::tuple(b.slot, b.index, b.type);
}

}  // namespace nanwatch
