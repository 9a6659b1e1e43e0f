// Site: every path of the HTTP side, from request to reply. Free of sockets and
// threads, so that tests call it as it is.

#ifndef NANWATCH_WEB_SITE_H_
#define NANWATCH_WEB_SITE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "metrics/exposition.h"
#include "web/api.h"
#include "web/backend.h"
#include "web/http.h"
#include "web/reply_cache.h"

namespace nanwatch {

class Site {
 public:
  Site(WebBackend backend, std::vector<std::string> allowed_hosts);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // Any thread. The body is there for HEAD too: the server leaves it out.
  HttpReply Answer(const HttpRequest& request);
  // A reply that was given elsewhere. Any thread.
  void Count(const HttpReply& reply);

 private:
  HttpReply Shared(const HttpRequest& request);
  HttpReply Finished(const HttpRequest& request) const;
  // nullopt: it may be answered.
  std::optional<HttpReply> Refused(const HttpRequest& request) const;
  HttpReply Route(const HttpRequest& request) const;
  HttpReply Metrics(const HttpRequest& request) const;
  HttpReply Ready() const;
  std::vector<SelfSample> SelfSamples() const;

  const WebBackend backend_;
  const std::vector<std::string> allowed_hosts_;
  const Api api_;
  const Exposition exposition_;
  ReplyCache cache_;

  mutable Mutex mutex_;
  // Requests by handler and status: both from short lists of ours.
  std::map<std::pair<std::string_view, int>, uint64_t> requests_
      GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_SITE_H_
