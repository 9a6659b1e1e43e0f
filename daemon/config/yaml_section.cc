#include "config/yaml_section.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "config/quantity.h"
#include "config/spelling.h"

namespace nanwatch {
namespace {

constexpr size_t kShown = 60;  // of a wrong value

std::string Quoted(const std::string& text) {
  std::string quoted(1, '\'');
  quoted.append(text, 0, kShown);
  return quoted += text.size() > kShown ? "...'" : "'";
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

void ConfigReading::Add(const YAML::Node& where, std::string sentence) {
  const YAML::Mark mark = where.Mark();
  problems.push_back({mark.line + 1, mark.column + 1, std::move(sentence)});
}

YamlSection::YamlSection(const YAML::Node& node, std::string path,
                         ConfigReading* reading)
    : path_(std::move(path)), reading_(reading) {
  if (!node.IsDefined() || node.IsNull()) return;
  const std::string name = path_.empty() ? "The file" : path_;
  if (!node.IsMap()) {
    reading_->Add(node, name + " is not a mapping of keys to values.");
    return;
  }
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      reading_->Add(pair.first, name + " has a key that is not a word.");
      continue;
    }
    const std::string key = pair.first.Scalar();
    if (!seen.insert(key).second) {
      reading_->Add(pair.first,
                    Dotted(key) + " is given twice; remove one of them.");
      continue;
    }
    entries_.push_back({key, {pair.first, pair.second}});
  }
}

void YamlSection::Flag(const std::string& key, bool* value) {
  const auto word = Word(key, {"true", "false"});
  if (word) *value = *word == "true";
}

void YamlSection::Whole(const std::string& key, int64_t min, int64_t max,
                        int64_t* value) {
  const std::string wanted = "a whole number from " + std::to_string(min) +
                             " to " + std::to_string(max);
  const auto text = Scalar(key, wanted);
  if (!text) return;
  int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error == std::errc() && stop == end && number >= min && number <= max) {
    *value = number;
  } else {
    Wrong(key, *text, wanted);
  }
}

void YamlSection::Number(const std::string& key, double min, double max,
                         double* value) {
  const std::string wanted =
      "a number from " + ShowNumber(min) + " to " + ShowNumber(max);
  const auto text = Scalar(key, wanted);
  if (!text) return;
  const auto number = ParseNumber(*text);
  if (number && *number >= min && *number <= max) {
    *value = *number;
  } else {
    Wrong(key, *text, wanted);
  }
}

void YamlSection::Time(const std::string& key, Duration min, Duration max,
                       std::string_view zero, Duration* value) {
  std::string wanted = "a time from " + ShowDuration(min) + " to " +
                       ShowDuration(max) + " with its unit, such as 30s or 15m";
  if (!zero.empty()) wanted += ", or " + std::string(zero);
  const auto text = Scalar(key, wanted);
  if (!text) return;
  const auto time = ParseDuration(*text);
  if (!zero.empty() && *text == zero) {
    *value = Duration(0);
  } else if (time && *time >= min && *time <= max) {
    *value = *time;
  } else {
    Wrong(key, *text, wanted);
  }
}

void YamlSection::Size(const std::string& key, uint64_t min, uint64_t max,
                       std::string_view zero, uint64_t* value) {
  std::string wanted = "a size from " + ShowSize(min) + " to " + ShowSize(max) +
                       " with its unit, such as 64MiB";
  if (!zero.empty()) wanted += ", or " + std::string(zero);
  const auto text = Scalar(key, wanted);
  if (!text) return;
  const auto size = ParseSize(*text);
  if (!zero.empty() && *text == zero) {
    *value = 0;
  } else if (size && *size >= min && *size <= max) {
    *value = *size;
  } else {
    Wrong(key, *text, wanted);
  }
}

void YamlSection::Text(const std::string& key, std::string* value) {
  if (auto text = Scalar(key, "a text")) *value = std::move(*text);
}

void YamlSection::ClientFiles(std::string* ca, std::string* cert,
                              std::string* key, std::string* token_file) {
  Text("ca", ca);
  Text("cert", cert);
  Text("key", key);
  Text("token_file", token_file);
  if (cert->empty() == key->empty()) return;
  Complain(key->empty() ? "cert" : "key",
           ": " + Dotted("cert") + " and " + Dotted("key") + " go together.");
}

void YamlSection::Texts(const std::string& key,
                        std::vector<std::string>* value) {
  const YAML::Node node = Take(key);
  if (!node.IsDefined()) return;
  std::vector<std::string> texts;
  if (!node.IsSequence()) {
    reading_->Add(PlaceOf(key),
                  Dotted(key) + " must be a list, such as [a, b].");
    return;
  }
  for (const auto& item : node) {
    if (!item.IsScalar()) {
      reading_->Add(item, Dotted(key) + " must be a list of texts.");
      return;
    }
    texts.push_back(item.Scalar());
  }
  *value = std::move(texts);
}

std::vector<std::string> YamlSection::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, nodes] : entries_) keys.push_back(key);
  return keys;
}

YamlSection YamlSection::Section(const std::string& key) {
  const YAML::Node node = Take(key);
  reading_->keys.pop_back();  // its own keys stand for it
  return YamlSection(node, Dotted(key), reading_);
}

void YamlSection::Complain(const std::string& key,
                           const std::string& sentence) {
  for (const auto& [name, nodes] : entries_) {
    if (name != key) continue;
    reading_->Add(PlaceOf(key), Dotted(key) + sentence);
    return;
  }
  reading_->problems.push_back({0, 0, Dotted(key) + sentence});
}

void YamlSection::ComplainOfItem(const std::string& key, size_t index,
                                 const std::string& sentence) {
  for (const auto& [name, nodes] : entries_) {
    if (name != key) continue;
    reading_->Add(nodes.second[index], Dotted(key) + sentence);
    return;
  }
}

std::vector<std::string> YamlSection::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.first);
  return names;
}

bool YamlSection::Has(const std::string& key) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return entry.first == key; });
}

std::string YamlSection::Peek(const std::string& key) const {
  for (const auto& [name, nodes] : entries_) {
    if (name == key && nodes.second.IsScalar()) return nodes.second.Scalar();
  }
  return "";
}

void YamlSection::Finish() {
  for (const auto& [key, nodes] : entries_) {
    if (std::count(known_.begin(), known_.end(), key) > 0) continue;
    std::string sentence =
        Dotted(key.substr(0, kShown)) + " is not a key that is known here";
    const std::string nearest = Nearest(key, known_);
    sentence += nearest.empty() ? "." : "; did you mean " + nearest + "?";
    reading_->Add(nodes.first, std::move(sentence));
  }
}

YAML::Node YamlSection::Take(const std::string& key) {
  known_.push_back(key);
  reading_->keys.push_back(Dotted(key));
  for (const auto& [name, nodes] : entries_) {
    if (name == key) return nodes.second;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

// yaml-cpp takes a missing value for one at the next thing that stands in the
// file, which may be lines further down.
const YAML::Node& YamlSection::PlaceOf(const std::string& key) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const auto& each) { return each.first == key; });
  const auto& [name, value] = entry->second;
  return value.IsNull() ? name : value;
}

std::optional<std::string> YamlSection::Scalar(const std::string& key,
                                               std::string_view wanted) {
  const YAML::Node node = Take(key);
  if (!node.IsDefined()) return std::nullopt;
  if (node.IsScalar()) return node.Scalar();
  reading_->Add(PlaceOf(key),
                Dotted(key) +
                    (node.IsNull() ? " has no value" : " is not one value") +
                    "; it must be " + std::string(wanted) + ".");
  return std::nullopt;
}

std::optional<std::string> YamlSection::Word(
    const std::string& key, const std::vector<std::string>& words) {
  const auto text = Scalar(key, Joined(words));
  if (!text) return std::nullopt;
  if (std::count(words.begin(), words.end(), *text) > 0) return text;
  Wrong(key, *text, Joined(words));
  return std::nullopt;
}

std::string YamlSection::Dotted(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void YamlSection::Wrong(const std::string& key, const std::string& text,
                        const std::string& wanted) {
  Complain(key, " is " + Quoted(text) + "; it must be " + wanted + ".");
}

}  // namespace nanwatch
