#include "vocabulary.h"

#include <algorithm>
#include <utility>

namespace word2vec {

Vocabulary::Vocabulary(const std::vector<std::string>& text) {
  std::unordered_map<std::string, int64_t> counted;
  for (const std::string& word : text) ++counted[word];
  std::vector<std::pair<int64_t, std::string>> ordered;
  for (const auto& [word, count] : counted) {
    if (count >= kLeastCount) ordered.emplace_back(-count, word);
  }
  std::sort(ordered.begin(), ordered.end());
  for (auto& [negative_count, word] : ordered) {
    ids_[word] = static_cast<int32_t>(words_.size());
    words_.push_back(word);
    counts_.push_back(-negative_count);
  }
  for (const std::string& word : text) {
    const int32_t id = Find(word);
    if (id >= 0) text_.push_back(id);
  }
}

int32_t Vocabulary::Find(const std::string& word) const {
  const auto it = ids_.find(word);
  return it == ids_.end() ? -1 : it->second;
}

}  // namespace word2vec
