// Paths and queries of URIs, decoded here and nowhere else.

#ifndef NANWATCH_WEB_URI_H_
#define NANWATCH_WEB_URI_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nanwatch {

// nullopt: a '%' without two hexadecimal digits after it.
std::optional<std::string> PercentDecode(std::string_view text);

// For one segment of a path or a value of a query.
std::string PercentEncode(std::string_view text);

// "/a/b%2Fc" is {"a", "b/c"}: split first, decoded after. One slash at the end
// is ignored.
std::optional<std::vector<std::string>> DecodePath(std::string_view path);

// The parameters of a query. Every one must be asked for by name: what is left
// over is an error, so that a misspelt one is told and not ignored.
class Query {
 public:
  // nullopt: a parameter that cannot be decoded, or one given twice.
  static std::optional<Query> Parse(std::string_view text);

  // `fallback` when it is not there; an error, a sentence, when it is no whole
  // number of min .. max.
  Result<int64_t> Take(const std::string& name, int64_t fallback, int64_t min,
                       int64_t max);
  // nullopt: it is not there.
  std::optional<std::string> TakeText(const std::string& name);
  // Not empty: the name of a parameter that nobody took.
  std::string Untaken() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_URI_H_
