// The page of one run, at /?run=RUN[&attempt=N][&step=S]: where the links of
// alerts lead.

#ifndef NANWATCH_WEB_RUN_PAGE_H_
#define NANWATCH_WEB_RUN_PAGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "model/snapshot.h"
#include "web/backend.h"
#include "web/http.h"
#include "web/uri.h"

namespace nanwatch {

// What the run is, how bad, why, what to do, and its incidents; everything that
// comes from a client is escaped. `step`: incidents that opened there are
// marked.
std::string RunPage(const RunView& run, std::optional<int64_t> step,
                    const std::function<std::string(int)>& rule_name);

// nullopt: the query names no run. From the snapshot where it has the run, else
// judged again from history. 400: a parameter that is not known or no number;
// 404, as a page: there is no such run.
std::optional<HttpReply> AnswerRunPage(const WebBackend& backend, Query query);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_RUN_PAGE_H_
