#include "web/json_reply.h"

#include <utility>

#include "model/limits.h"

namespace nanwatch {

HttpReply JsonReply(const Json& json, std::string_view handler) {
  return WrittenReply(Dump(json), handler);
}

HttpReply WrittenReply(std::string json, std::string_view handler) {
  HttpReply reply;
  reply.content_type = kJsonType;
  reply.body = std::move(json);
  if (reply.body.size() > limits::kHttpReplyBytes) {
    reply = ErrorReply(413,
                       "The answer has " + std::to_string(reply.body.size()) +
                           " bytes, more than " +
                           std::to_string(limits::kHttpReplyBytes) + ".",
                       "", "Ask for fewer points or a smaller range of steps.");
  }
  reply.handler = handler;
  return reply;
}

HttpReply BadParameter(const std::string& sentence) {
  return ErrorReply(400, sentence, "query",
                    "Correct the parameter; API.md lists them.");
}

HttpReply UnknownParameter(const std::string& name) {
  return BadParameter("The parameter " + name + " is not known here.");
}

HttpReply NoSuchRun(const std::string& run) {
  return ErrorReply(404, "There is no such run or attempt.", run,
                    "GET /api/v1/runs lists the runs; in a path, a slash "
                    "inside a run id is written %2F.");
}

HttpReply HistoryFailed(const std::string& why, const std::string& where) {
  return ErrorReply(503, "The history cannot be read: " + why, where,
                    "Try again; the daemon's log says more.");
}

}  // namespace nanwatch
