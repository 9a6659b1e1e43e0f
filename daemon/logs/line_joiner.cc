#include "logs/line_joiner.h"

#include <algorithm>

#include "logs/scan.h"

namespace nanwatch {
namespace {

// Without the place in the source at its end, "      trainer.py:88".
std::string_view WithoutPlace(std::string_view line) {
  const std::string_view text = TrimBlanks(line);
  const size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return text;
  const std::string_view place = TrimBlanks(text.substr(blank));
  const size_t colon = place.rfind(".py:");
  const bool is_place =
      colon != std::string_view::npos && colon + 4 < place.size() &&
      std::all_of(place.begin() + static_cast<ptrdiff_t>(colon) + 4,
                  place.end(), IsDigit);
  return is_place ? TrimBlanks(text.substr(0, blank)) : text;
}

// A Python dict begins in `line` and does not end in it.
bool OpensDict(std::string_view line) {
  if (line.find('{') == std::string_view::npos) return false;
  const size_t open = line.rfind("{'");
  return open != std::string_view::npos &&
         line.find('}', open) == std::string_view::npos;
}

// "loss: tensor([2.31], device='cuda:0'," goes on in the next line.
bool OpensTensor(std::string_view line) {
  if (!line.ends_with(',')) return false;
  const size_t open = line.rfind("ensor(");
  if (open == std::string_view::npos) return false;
  const std::string_view text = line.substr(open);
  return std::ranges::count(text, '(') > std::ranges::count(text, ')');
}

}  // namespace

void LineJoiner::Take(std::string_view line) {
  if (parts_.empty()) {
    const bool dict = OpensDict(line);
    if (dict || OpensTensor(line)) {
      close_ = dict ? '}' : ')';
      parts_.emplace_back(line);
    } else {
      sink_(line);
    }
    return;
  }
  // A part is set in; what is not begins something else.
  const bool part = line.starts_with(' ') && line.find('{') == line.npos;
  if (!part || parts_.size() == kParts) {
    Flush();
    Take(line);
    return;
  }
  if (line.find(close_) == std::string_view::npos) {
    parts_.emplace_back(line);
    return;
  }
  std::string whole;
  for (const std::string& each : parts_) {
    whole += WithoutPlace(each);
    whole += ' ';
  }
  whole += TrimBlanks(line);
  for (size_t i = 0; i < parts_.size(); ++i) sink_("");
  parts_.clear();
  sink_(whole);
}

void LineJoiner::Flush() {
  for (const std::string& part : parts_) sink_(part);
  parts_.clear();
}

}  // namespace nanwatch
