#include "web/site.h"

#include <exception>
#include <optional>
#include <utility>

#include "metrics/negotiate.h"
#include "metrics/render.h"
#include "model/metric_names.h"
#include "web/gzip.h"
#include "web/host_guard.h"
#include "web/html.h"
#include "web/landing.h"
#include "web/run_page.h"

namespace nanwatch {
namespace {

// Below, the header costs more than is saved.
constexpr size_t kGzipFrom = 1024;

HttpReply Page(std::string_view type, std::string body,
               std::string_view handler) {
  HttpReply reply;
  reply.content_type = type;
  reply.body = std::move(body);
  reply.handler = handler;
  return reply;
}

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kCss = "text/css; charset=utf-8";

}  // namespace

Site::Site(WebBackend backend, std::vector<std::string> allowed_hosts)
    : backend_(std::move(backend)),
      allowed_hosts_(std::move(allowed_hosts)),
      api_(backend_),
      exposition_(backend_.metrics, backend_.snapshot,
                  [this] { return SelfSamples(); }) {}

HttpReply Site::Answer(const HttpRequest& request) {
  HttpReply reply;
  try {
    reply = Route(request);
  } catch (const std::exception& e) {  // out of memory, or a JSON bug of ours
    reply = ErrorReply(500, std::string("The answer failed: ") + e.what(),
                       request.path.substr(0, 256),
                       "Please report this with the daemon's version.");
  }
  if (reply.body.size() >= kGzipFrom && AcceptsGzip(request.accept_encoding)) {
    if (auto packed = Gzip(reply.body)) {
      reply.body = std::move(*packed);
      reply.gzipped = true;
    }
  }
  MutexLock lock(mutex_);
  ++requests_[{reply.handler, reply.status}];
  return reply;
}

HttpReply Site::Route(const HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    return ErrorReply(405, "Only GET and HEAD are served here.",
                      request.path.substr(0, 256),
                      "The nanwatch command changes things.");
  }
  if (!HostMayEnter(request.host, allowed_hosts_)) {
    return ErrorReply(403,
                      "The name '" + request.host.substr(0, 256) +
                          "' is not one of this daemon's.",
                      "Host header",
                      "Call it by its IP address, or add the name to "
                      "web.allowed_hosts in the configuration.");
  }
  const std::string& path = request.path;
  if (path == "/metrics") return Metrics(request);
  if (path == "/-/healthy") return Page(kPlain, "Healthy.\n", "healthy");
  if (path == "/-/ready") return Ready();
  if (path == "/") return Landing(request);
  if (path == "/style.css") {
    return Page(kCss, std::string(kStyleSheet), "landing");
  }
  auto segments = DecodePath(path);
  auto query = Query::Parse(request.query);
  if (!segments || !query) {
    return ErrorReply(400, "The address cannot be decoded.",
                      segments ? "query" : "path",
                      "Write % as %25, and give each parameter once.");
  }
  if (segments->size() > 2 && (*segments)[0] == "api" &&
      (*segments)[1] == "v1") {
    segments->erase(segments->begin(), segments->begin() + 2);
    return api_.Answer(*segments, std::move(*query));
  }
  return ErrorReply(404, "There is nothing under this path.",
                    path.substr(0, 256), "Start at /.");
}

HttpReply Site::Landing(const HttpRequest& request) const {
  auto query = Query::Parse(request.query);
  if (!query) {
    return ErrorReply(400, "The address cannot be decoded.", "query",
                      "Write % as %25, and give each parameter once.");
  }
  if (auto page = AnswerRunPage(backend_, std::move(*query))) return *page;
  return Page(
      kHtml,
      LandingPage(*backend_.snapshot(), backend_.version, backend_.not_ready()),
      "landing");
}

HttpReply Site::Metrics(const HttpRequest& request) const {
  const MetricsFormat format = NegotiateFormat(request.accept);
  HttpReply reply = Page(ContentType(format), "", "metrics");
  Render(format, exposition_.Gather(), &reply.body);
  return reply;
}

HttpReply Site::Ready() const {
  const std::string reason = backend_.not_ready();
  HttpReply reply =
      Page(kPlain, reason.empty() ? "Ready.\n" : reason + "\n", "ready");
  if (!reason.empty()) reply.status = 503;
  return reply;
}

std::vector<SelfSample> Site::SelfSamples() const {
  std::vector<SelfSample> samples = backend_.self_samples();
  MutexLock lock(mutex_);
  for (const auto& [key, count] : requests_) {
    samples.push_back({Name(Metric::kHttpRequests),
                       {{"handler", std::string(key.first)},
                        {"code", std::to_string(key.second)}},
                       static_cast<double>(count)});
  }
  return samples;
}

}  // namespace nanwatch
