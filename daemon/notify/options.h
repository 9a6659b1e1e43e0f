// NotifyOptions: who hears of incidents.

#ifndef NANWATCH_NOTIFY_OPTIONS_H_
#define NANWATCH_NOTIFY_OPTIONS_H_

#include <string>
#include <vector>

#include "base/time.h"
#include "model/severity.h"

namespace nanwatch {

struct AlertmanagerOptions {
  // Base URLs of all peers of one Alertmanager: each gets every alert.
  std::vector<std::string> urls;
  // It forgets what is not said again.
  Duration resend = std::chrono::seconds(60);
};

struct WebhookOptions {
  std::vector<std::string> urls;  // http:// or https://
  // JSON with {{placeholders}}; empty: the built-in one.
  std::string body;
};

struct NotifyOptions {
  AlertmanagerOptions alertmanager;
  WebhookOptions webhook;
  // Below it nobody is told.
  Severity from = Severity::kWarning;
  // Alertmanager is told "firing" for at least so long, even of what resolved
  // at once: its group_wait (30 s) would swallow the rest.
  Duration hold = std::chrono::seconds(35);
  // News of what was not told before waits so long for what comes right behind
  // it: a cause is known, and a warning becomes critical, within milliseconds
  // of the first finding. One trouble, one notification.
  Duration settle = std::chrono::seconds(1);
  // And "resolved" for so long, at every resend.
  Duration say_resolved_for = std::chrono::minutes(10);
  // Of one request.
  Duration timeout = std::chrono::seconds(10);
  // Shown to people as the way back, e.g. "http://gpu7:9765"; empty: none.
  std::string external_url;
  // Where people find deploy/runbooks, e.g. "https://wiki/nanwatch"; empty: no
  // links to them.
  std::string runbooks_url;
};

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_OPTIONS_H_
