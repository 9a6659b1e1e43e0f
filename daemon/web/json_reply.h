// Replies of the API.

#ifndef NANWATCH_WEB_JSON_REPLY_H_
#define NANWATCH_WEB_JSON_REPLY_H_

#include <string>
#include <string_view>

#include "json/value.h"
#include "web/http.h"

namespace nanwatch {

// 413 instead, when it would pass limits::kHttpReplyBytes.
HttpReply JsonReply(const Json& json, std::string_view handler);
// The same of JSON that is written already.
HttpReply WrittenReply(std::string json, std::string_view handler);
// 400. `sentence` names the parameter.
HttpReply BadParameter(const std::string& sentence);
HttpReply UnknownParameter(const std::string& name);
// 404.
HttpReply NoSuchRun(const std::string& run_id);
// 503. `why` is the history's own sentence; `where` a run id or "history".
HttpReply HistoryFailed(const std::string& why, const std::string& where);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_JSON_REPLY_H_
