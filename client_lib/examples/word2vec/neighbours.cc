#include "neighbours.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace word2vec {
namespace {

float Dot(const float* a, const float* b, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::vector<std::string> Neighbours(const Vocabulary& vocabulary,
                                    const Table& table, const std::string& word,
                                    size_t n) {
  std::vector<std::string> near;
  const int32_t id = vocabulary.Find(word);
  if (id < 0) return near;
  const float* centre = table.row(id);
  std::vector<std::pair<float, int32_t>> ordered;
  for (int32_t i = 0; i < static_cast<int32_t>(vocabulary.size()); ++i) {
    // Vectors of rare words have not moved far from where chance put them.
    if (i == id || vocabulary.count(i) < 20) continue;
    const float* other = table.row(i);
    const float norm = std::sqrt(Dot(other, other, table.dim()));
    ordered.emplace_back(-Dot(centre, other, table.dim()) / norm, i);
  }
  n = std::min(n, ordered.size());
  std::partial_sort(ordered.begin(),
                    ordered.begin() + static_cast<ptrdiff_t>(n), ordered.end());
  for (size_t i = 0; i < n; ++i) {
    near.push_back(vocabulary.word(ordered[i].second));
  }
  return near;
}

}  // namespace word2vec
