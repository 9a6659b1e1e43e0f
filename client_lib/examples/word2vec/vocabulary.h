// Vocabulary: the words that are frequent enough, and the text in their ids.

#ifndef NANWATCH_WORD2VEC_VOCABULARY_H_
#define NANWATCH_WORD2VEC_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace word2vec {

class Vocabulary {
 public:
  static constexpr int kLeastCount = 5;

  // Ids go from the most frequent word down; equals in alphabetical order.
  explicit Vocabulary(const std::vector<std::string>& text);

  size_t size() const { return words_.size(); }
  const std::string& word(int32_t id) const { return words_[id]; }
  int64_t count(int32_t id) const { return counts_[id]; }
  // -1: not in the vocabulary.
  int32_t Find(const std::string& word) const;
  // The text, without the words that are too rare.
  const std::vector<int32_t>& text() const { return text_; }

 private:
  std::vector<std::string> words_;
  std::vector<int64_t> counts_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<int32_t> text_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_VOCABULARY_H_
