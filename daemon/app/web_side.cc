#include "app/web_side.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "config/web_file.h"
#include "model/metric_names.h"

namespace nanwatch {

WebSide::WebSide(const DaemonConfig& config)
    : config_(config),
      callers_(config.server.access),
      quotas_(std::make_shared<const UserQuotas>(config.server.quotas)),
      insecure_(std::make_shared<std::string>()) {}

Status WebSide::Start(WebBackend backend) {
  if (config_.web.listen.empty()) return OkStatus();
  backend.speaks_as = callers_.OfUser(geteuid());
  backend.speaks_as.admin = false;
  backend.caller_of = [this](const std::string& name) {
    return callers_.OfName(name);
  };
  backend.queries_of = [this](const std::string& user) {
    return quotas_.Get()->Of(user).queries;
  };
  backend.read_by_everyone = [this] { return callers_.read_by_everyone(); };
  backend.insecure = [this] { return *insecure_.Get(); };
  TellInsecure(config_.web.protection);
  Result<std::unique_ptr<WebServer>> web =
      WebServer::Start(config_.web, std::move(backend));
  if (!web.ok()) return Error{web.error()};
  web_ = std::move(*web);
  return OkStatus();
}

Status WebSide::Reload(const DaemonConfig& config) {
  if (web_ != nullptr) {
    const WebProtection& protection = config.web.protection;
    const std::string open = WhyInsecure(config_.web.listen, protection);
    if (!open.empty() && !config_.web.insecure) {
      return Error{open + ": restart nanwatchd"};
    }
    if (!config.server.access.read_by_everyone && !protection.asks()) {
      return Error{
          "access.read is owner, and the HTTP port is still open, where nobody "
          "is asked who he is: restart nanwatchd"};
    }
    if (Status taken = web_->SetProtection(protection); !taken.ok()) {
      return taken;
    }
    TellInsecure(protection);
  }
  callers_.Set(config.server.access);
  quotas_.Set(std::make_shared<const UserQuotas>(config.server.quotas));
  return OkStatus();
}

void WebSide::TellInsecure(const WebProtection& protection) {
  const std::string why = WhyInsecure(config_.web.listen, protection);
  if (!why.empty()) LogWarning("web.insecure is true", why);
  insecure_.Set(std::make_shared<std::string>(why));
}

void WebSide::Stop() {
  if (web_ != nullptr) web_->Stop();
}

std::string WebSide::address() const {
  if (web_ == nullptr) return "";
  return (config_.web.protection.encrypts() ? "https://" : "http://") +
         web_->address();
}

void WebSide::AppendSamples(std::vector<SelfSample>* samples) const {
  samples->push_back(
      {Name(Metric::kWebInsecure), {}, insecure_.Get()->empty() ? 0.0 : 1.0});
}

}  // namespace nanwatch
