// The environment and the words of a program that is started.

#ifndef NANWATCH_CLI_CHILD_ENVIRONMENT_H_
#define NANWATCH_CLI_CHILD_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

namespace nanwatch {

using Variables = std::vector<std::pair<std::string, std::string>>;

// This program's own, with these set.
std::vector<std::string> EnvironmentWith(const Variables& variables);
// As exec takes them; valid as long as `texts` are.
std::vector<char*> Pointers(std::vector<std::string>& texts);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_CHILD_ENVIRONMENT_H_
