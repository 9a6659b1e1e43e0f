#include "config/spelling.h"

#include <algorithm>
#include <numeric>

namespace nanwatch {
namespace {

// Letters to insert, delete or change (Levenshtein).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(std::string_view word,
                    const std::vector<std::string>& known) {
  constexpr size_t kLongestWord = 64;  // no key of ours is longer
  std::string nearest;
  size_t best = word.size() / 3 + 1;
  if (word.size() > kLongestWord) return nearest;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance <= best && (nearest.empty() || distance < best)) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace nanwatch
