// "Did you mean": the known word nearest to a misspelt one.

#ifndef NANWATCH_CONFIG_SPELLING_H_
#define NANWATCH_CONFIG_SPELLING_H_

#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

// Empty: none is near enough (a third of the word's letters may be wrong).
std::string Nearest(std::string_view word,
                    const std::vector<std::string>& known);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_SPELLING_H_
