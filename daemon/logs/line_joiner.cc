#include "logs/line_joiner.h"

#include <algorithm>
#include <cmath>

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

constexpr std::string_view kVariable = "Variable containing:";

// "step 10 loss Variable containing:", "step 10 loss ", "loss=": a number in
// lines of its own may follow. Of most lines the last letter shows that none
// does.
bool OpensNumber(std::string_view line) {
  if (!line.ends_with(' ') && !line.ends_with(':') && !line.ends_with('=')) {
    return false;
  }
  if (line.ends_with(kVariable)) return true;
  const std::string_view name = TrimBlanks(line);
  return !name.empty() &&
         (IsLetter(name.back()) || name.back() == ':' || name.back() == '=');
}

// The number of a line that holds nothing else, "[2.3231]", as printed. Empty:
// it is none.
std::string_view NumberAlone(std::string_view line) {
  line = TrimBlanks(line);
  if (line.starts_with('[') && line.ends_with(']')) {
    line = TrimBlanks(line.substr(1, line.size() - 2));
  }
  return WholeNumber(line) ? line : std::string_view();
}

// "1.00000e-02 *", before a number that is to be taken so often: a power of
// ten. Empty: it is none.
std::string_view FactorAlone(std::string_view line) {
  line = TrimBlanks(line);
  if (!line.ends_with(" *")) return "";
  line.remove_suffix(2);
  const size_t power = line.find("00e");
  const bool ten = line.starts_with("1.") && power != line.npos &&
                   WholeNumber(line).has_value();
  return ten ? line.substr(power + 2) : std::string_view();
}

// "[torch.cuda.FloatTensor of size 1 (GPU 0)]", "<NDArray 1 @cpu(0)>": what was
// above is one number.
bool SaysOneNumber(std::string_view line) {
  if (line.starts_with("<NDArray 1 @")) return true;
  constexpr std::string_view kSize = "Tensor of size 1";
  const size_t at = line.find(kSize);
  if (!line.starts_with("[torch.") || at == line.npos) return false;
  const char behind = line.substr(at + kSize.size()).front();
  return line.ends_with(']') && (behind == ']' || behind == ' ');
}

}  // namespace

void LineJoiner::TellWhole(const std::string& whole) {
  for (size_t i = 0; i < parts_.size(); ++i) sink_("");
  parts_.clear();
  sink_(whole);
}

// The first of the parts names the number, then it comes, perhaps behind a
// factor.
void LineJoiner::TakeOfNumber(std::string_view line) {
  const std::string_view factor =
      parts_.size() > 1 ? FactorAlone(parts_[1]) : std::string_view();
  const std::string_view number = NumberAlone(parts_.back());
  const bool goes_on =
      number.empty() && (!NumberAlone(line).empty() ||
                         (parts_.size() == 1 && !FactorAlone(line).empty()));
  if (goes_on) {
    parts_.emplace_back(line);
    return;
  }
  if (number.empty() || !SaysOneNumber(line)) {
    Flush();
    Take(line);
    return;
  }
  std::string_view name = parts_.front();
  if (name.ends_with(kVariable)) name.remove_suffix(kVariable.size());
  std::string whole(TrimBlanks(name));
  whole += ' ';
  whole += number;
  // "5.25" and "e-02".
  if (std::isfinite(WholeNumber(number).value_or(0))) whole += factor;
  TellWhole(whole);
}

void LineJoiner::Take(std::string_view line) {
  if (!parts_.empty()) {
    return close_ == kNumber ? TakeOfNumber(line) : TakePart(line);
  }
  const std::string_view text = TrimBlanks(line);
  if (!list_) list_ = text == "[";
  const bool dict = OpensDict(line) || (*list_ && text == "{");
  if (dict || OpensTensor(line)) {
    close_ = dict ? '}' : ')';
    parts_.emplace_back(line);
  } else if (OpensNumber(line)) {
    close_ = kNumber;
    parts_.emplace_back(line);
  } else {
    sink_(line);
  }
}

void LineJoiner::TakePart(std::string_view line) {
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
  TellWhole(whole);
}

void LineJoiner::Flush() {
  for (const std::string& part : parts_) sink_(part);
  parts_.clear();
}

}  // namespace nanwatch
