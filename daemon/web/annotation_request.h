// What a person says of a run on the page: mute, unmute, acknowledge.

#ifndef NANWATCH_WEB_ANNOTATION_REQUEST_H_
#define NANWATCH_WEB_ANNOTATION_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "web/backend.h"
#include "web/http.h"

namespace nanwatch {

// A POST's body has at most so many bytes.
inline constexpr size_t kAnnotationBytes = 8192;

// Whether this caller may say anything at all: the daemon takes it, and it is
// known who he is, or he is on this machine.
bool MayAnnotate(const WebBackend& backend, const HttpRequest& request);

// Answers a POST to /api/v1/runs/RUN[/attempts/N]/annotations. Only what the
// page itself sends is taken: a foreign page's request is refused by its
// Origin, its Sec-Fetch-Site, or the header that it cannot add.
HttpReply AnswerAnnotation(const WebBackend& backend,
                           const HttpRequest& request,
                           const std::string& run_id,
                           std::optional<int32_t> attempt);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_ANNOTATION_REQUEST_H_
