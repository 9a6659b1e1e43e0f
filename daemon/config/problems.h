// What is wrong with a configuration, all of it, with the place.

#ifndef NANWATCH_CONFIG_PROBLEMS_H_
#define NANWATCH_CONFIG_PROBLEMS_H_

#include <string>
#include <vector>

namespace nanwatch {

struct ConfigProblem {
  int line = 0;  // from 1; 0: the file as a whole
  int column = 0;
  std::string sentence;
};

// One line each, in the order of the file: "FILE:LINE:COLUMN: sentence".
std::string Describe(const std::string& file,
                     std::vector<ConfigProblem> problems);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_PROBLEMS_H_
