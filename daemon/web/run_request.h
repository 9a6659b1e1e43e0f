// A request about one run: its path, and the answer.

#ifndef NANWATCH_WEB_RUN_REQUEST_H_
#define NANWATCH_WEB_RUN_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "web/backend.h"
#include "web/http.h"
#include "web/uri.h"

namespace nanwatch {

// What a path under /runs/RUN asks for.
struct RunPath {
  std::string run_id;
  std::optional<int32_t> attempt;
  std::string what;  // "", "steps", "ops", "layers", "benchmark", ...
};

// `path`: RUN [attempts N] [what], decoded. nullopt: nothing like that.
// REQUIRES: path is not empty.
std::optional<RunPath> ParseRunPath(const std::vector<std::string>& path);

// From the snapshot where it has the run, else from the history. A run that
// `who` may not see is not there.
HttpReply AnswerRun(const WebBackend& backend, RunPath path, Query query,
                    const Caller& who);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_RUN_REQUEST_H_
