#include "logs/json_scan.h"

namespace nanwatch {

void JsonScan::SkipBlanks() {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonScan::Take(char c) {
  SkipBlanks();
  if (at_ >= line_.size() || line_[at_] != c) return false;
  ++at_;
  return true;
}

// Escapes stay as they are: no name or number that we know has any.
bool JsonScan::String(std::string_view* text) {
  if (!Take('"')) return false;
  const size_t begin = at_;
  while (at_ < line_.size() && line_[at_] != '"') {
    at_ += line_[at_] == '\\' ? 2 : 1;
  }
  if (at_ >= line_.size()) return false;
  *text = line_.substr(begin, at_ - begin);
  ++at_;
  return true;
}

bool JsonScan::Array(int depth) {
  if (!Take('[')) return false;
  if (Take(']')) return true;
  do {
    if (!Value(depth, false)) return false;
  } while (Take(','));
  return Take(']');
}

bool JsonScan::Value(int depth, bool told) {
  SkipBlanks();
  if (at_ >= line_.size() || depth >= kDepthMax) return false;
  if (line_[at_] == '{') return Object(depth + 1, told);
  if (line_[at_] == '[') return Array(depth + 1);
  std::string_view text;
  if (line_[at_] == '"') {
    if (!String(&text)) return false;
  } else {
    const size_t begin = at_;
    const size_t end = line_.find_first_of(",}] \t\"{[:", at_);
    if (end == begin || end == std::string_view::npos) return false;
    text = line_.substr(begin, end - begin);
    at_ = end;
  }
  if (told) (*on_value_)(path_, text);
  return true;
}

bool JsonScan::Object(int depth, bool told) {
  if (!Take('{')) return false;
  if (Take('}')) return true;
  const size_t outer = path_.size();
  do {
    std::string_view key;
    if (!String(&key) || !Take(':')) return false;
    if (outer > 0) path_ += '/';
    path_ += key;
    if (!Value(depth, told)) return false;
    path_.resize(outer);
  } while (Take(','));
  return Take('}');
}

size_t JsonScan::Read(std::string_view line, size_t at,
                      const OnValue& on_value) {
  line_ = line;
  at_ = at;
  path_.clear();
  on_value_ = &on_value;
  if (!Object(0, true)) return std::string_view::npos;
  return at_;
}

}  // namespace nanwatch
