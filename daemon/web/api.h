// Api: /api/v1, documented in API.md.

#ifndef NANWATCH_WEB_API_H_
#define NANWATCH_WEB_API_H_

#include <string>
#include <vector>

#include "web/backend.h"
#include "web/http.h"
#include "web/uri.h"

namespace nanwatch {

class Api {
 public:
  // `backend` must outlive this.
  explicit Api(const WebBackend& backend) : backend_(backend) {}

  // `path`: decoded segments after /api/v1. Any thread.
  HttpReply Answer(const std::vector<std::string>& path, Query query,
                   const HttpRequest& request) const;

 private:
  const WebBackend& backend_;
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_API_H_
