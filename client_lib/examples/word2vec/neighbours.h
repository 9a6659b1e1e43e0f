// Neighbours: what a trained table thinks is near a word.

#ifndef NANWATCH_WORD2VEC_NEIGHBOURS_H_
#define NANWATCH_WORD2VEC_NEIGHBOURS_H_

#include <string>
#include <vector>

#include "table.h"
#include "vocabulary.h"

namespace word2vec {

// The `n` words with the largest cosine to `word`, nearest first; empty when
// the word is not known.
std::vector<std::string> Neighbours(const Vocabulary& vocabulary,
                                    const Table& table, const std::string& word,
                                    size_t n);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_NEIGHBOURS_H_
