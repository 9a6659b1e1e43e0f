#include "logs/array_rows.h"

#include <algorithm>
#include <utility>

#include "logs/in_words.h"
#include "logs/scan.h"
#include "logs/table_header.h"

namespace nanwatch {
namespace {

using Array = NumberArrays::Array;

// Passed on in place of a line of the object: lines are counted.
constexpr std::string_view kTaken = "";

bool IsAbsent(std::string_view word) {
  return word == "null" || word == "None";
}

// What arrays of one length show, the more the more it says of the training; 0:
// nothing.
int WorthOf(const std::optional<TableHeader>& table) {
  if (!table) return 0;
  const auto any = [&table](auto is_one) {
    return std::ranges::any_of(table->columns, is_one);
  };
  if (any(IsAnyLoss)) return 4;
  if (table->adds_up && !table->of_policy) return 3;
  if (any([](ColumnMeaning m) { return m == ColumnMeaning::kReward; }))
    return 2;
  return table->alone || table->adds_up ? 1 : 0;
}

// The names of a table of all arrays of one length, the rows' numbers first.
std::vector<std::string_view> NamesOf(const std::vector<Array>& arrays,
                                      size_t size) {
  std::vector<std::string_view> names = {""};
  for (const Array& array : arrays) {
    if (array.size == size) names.push_back(array.name);
  }
  return names;
}

}  // namespace

void NumberArrays::Open(bool list) {
  if (open_.size() == kDepthMax) {
    broken_ = true;
    return;
  }
  const bool named = !open_.empty() && !open_.back().list;
  numbers_ = list && named;
  open_.push_back({list, path_.size()});
  if (!named) return;
  // "val": {"loss": [...]}, and what else an object in another is called.
  const bool evaluation = IsEvaluation(path_);
  if (!path_.empty()) path_ += '/';
  path_ += key_;
  array_ = {};
  array_.name = evaluation ? path_ : key_;
}

void NumberArrays::Close() {
  if (open_.empty()) return;
  path_.resize(open_.back().path);
  open_.pop_back();
  if (std::exchange(numbers_, false) && array_.size > 1 &&
      array_.name.find_first_of("\"\t|;") == array_.name.npos &&
      !WholeNumber(array_.name)) {
    arrays_.push_back(std::move(array_));
  }
  ended_ = open_.empty();
}

void NumberArrays::EndValue() {
  if (word_.empty() && !quoted_) return;
  if (numbers_) {
    const bool absent = IsAbsent(word_);
    numbers_ = absent || WholeNumber(word_).has_value();
    took_ |= numbers_;
    if (array_.size > 0) array_.cells += ',';
    if (!absent) array_.cells += word_;
    ++array_.size;
  }
  word_.clear();
  quoted_ = false;
}

void NumberArrays::Put(char c) {
  if (quote_ != 0) {
    if (std::exchange(escaped_, !escaped_ && c == '\\')) {
      word_ += c;
    } else if (c == quote_) {
      quote_ = 0;
    } else if (!escaped_) {
      word_ += c;
    }
    return;
  }
  switch (c) {
    case '"':
    case '\'':
      quote_ = c;
      quoted_ = true;
      return;
    case '{':
    case '[':
      return Open(c == '[');
    case ':':
      broken_ |= !quoted_;
      key_ = std::exchange(word_, "");
      quoted_ = false;
      return;
    case '}':
    case ']':
      EndValue();
      return Close();
    case ',':
      return EndValue();
    case ' ':
    case '\t':
      return;
    default:
      word_ += c;
  }
}

void NumberArrays::Feed(std::string_view text) {
  took_ = false;
  bytes_ += text.size();
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    broken_ |= word_.size() > kWordMax || (ended_ && !blank);
    if (broken_) return;
    Put(c);
  }
  if (quote_ == 0 && numbers_) EndValue();
  const bool any = !arrays_.empty() || array_.size > 0;
  broken_ |= bytes_ > (any ? kMost : kBefore);
}

void ArrayRows::TakePart(std::string_view line) {
  const std::string_view text = TrimBlanks(line);
  if (text.empty()) return sink_(line);
  over_ = !begun_ && !text.starts_with('{');
  if (over_) return sink_(line);
  const bool first = !std::exchange(begun_, true);
  object_.Feed(line);
  if (object_.broken()) {
    over_ = true;
    // Lines are objects of their own.
    if (!held_.empty()) sink_(std::exchange(held_, ""));
    return sink_(line);
  }
  if (first && object_.ended() && object_.took()) {
    held_ = line;
  } else {
    sink_(object_.took() ? kTaken : line);
  }
}

void ArrayRows::Tell(size_t size) {
  std::string line;
  for (const std::string_view name : NamesOf(object_.arrays(), size)) {
    line.append(line.empty() ? "" : ",").append("\"").append(name).append("\"");
  }
  ++rows_;
  sink_(line);
  std::vector<std::string_view> left;
  for (const Array& array : object_.arrays()) {
    if (array.size == size) left.emplace_back(array.cells);
  }
  for (size_t i = 1; i <= size; ++i) {
    line = std::to_string(i);
    for (std::string_view& cells : left) {
      const size_t end = std::min(cells.find(','), cells.size());
      line.append(",").append(cells.substr(0, end));
      cells.remove_prefix(std::min(end + 1, cells.size()));
    }
    ++rows_;
    sink_(line);
  }
}

void ArrayRows::Finish() {
  if (std::exchange(over_, true) || !object_.ended()) return;
  size_t best = 0;
  int worth = 0;
  for (const Array& array : object_.arrays()) {
    const std::vector<std::string_view> names =
        NamesOf(object_.arrays(), array.size);
    const int own = WorthOf(ReadTableHeader(names, true, &names_));
    if (own <= worth) continue;
    worth = own;
    best = array.size;
  }
  if (!held_.empty()) sink_(worth > 0 ? kTaken : std::string_view(held_));
  if (worth > 0) Tell(best);
}

}  // namespace nanwatch
