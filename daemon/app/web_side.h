// WebSide: HTTP as the configuration wants it, and who calls over it.

#ifndef NANWATCH_APP_WEB_SIDE_H_
#define NANWATCH_APP_WEB_SIDE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/published.h"
#include "base/result.h"
#include "config/config.h"
#include "model/self_sample.h"
#include "rpc/callers.h"
#include "web/server.h"

namespace nanwatch {

class WebSide {
 public:
  // `config` must outlive this.
  explicit WebSide(const DaemonConfig& config);

  // Listens when it returns, if the configuration wants HTTP. What concerns
  // callers is added to `backend`.
  Status Start(WebBackend backend);
  // `access`, `quotas` and web.config_file of a configuration that was read
  // again. What listens is what it was at the start, and is held against that.
  // An error: the old ones stay.
  Status Reload(const DaemonConfig& config);
  void Stop();

  // As `access` says now, also where there is no HTTP.
  bool read_by_everyone() const { return callers_.read_by_everyone(); }
  std::string address() const;  // "http://127.0.0.1:9765", or empty
  // Any thread.
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  void TellInsecure(const WebProtection& protection);

  const DaemonConfig& config_;
  Callers callers_;
  Published<UserQuotas> quotas_;
  Published<std::string> insecure_;  // why HTTP is; empty: it is not
  std::unique_ptr<WebServer> web_;   // null: off
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_WEB_SIDE_H_
