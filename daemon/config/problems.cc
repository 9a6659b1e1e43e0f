#include "config/problems.h"

#include <algorithm>
#include <tuple>

namespace nanwatch {

std::string Describe(const std::string& file,
                     std::vector<ConfigProblem> problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const ConfigProblem& a, const ConfigProblem& b) {
                     return std::tie(a.line, a.column) <
                            std::tie(b.line, b.column);
                   });
  std::string text;
  for (const ConfigProblem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += file;
    if (problem.line > 0) {
      text += ':' + std::to_string(problem.line) + ':' +
              std::to_string(problem.column);
    }
    text += ": " + problem.sentence;
  }
  return text;
}

}  // namespace nanwatch
