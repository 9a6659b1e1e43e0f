// Python's lists of pairs, as some trainings print their numbers.

#ifndef NANWATCH_LOGS_PAIR_LISTS_H_
#define NANWATCH_LOGS_PAIR_LISTS_H_

#include <string>
#include <string_view>

namespace nanwatch {

// Returns `line` with a dict, {'step': 10, 'loss': 2.31}, for its first list of
// pairs, [('step', 10), ('loss', 2.31)] or OrderedDict() of one, written to
// `*out`, where that is whole and one is the number of a loss; else `line`.
std::string_view WithDictOfPairs(std::string_view line, std::string* out);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_PAIR_LISTS_H_
