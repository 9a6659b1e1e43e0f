#include "web/site.h"

#include <exception>
#include <optional>
#include <utility>

#include "base/fnv1a.h"
#include "json/value.h"
#include "metrics/negotiate.h"
#include "metrics/render.h"
#include "model/metric_names.h"
#include "web/gzip.h"
#include "web/host_guard.h"
#include "web/page.h"

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

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
// How old a reply may be that several pages share.
constexpr Duration kShared = std::chrono::milliseconds(900);

std::string TagOf(std::string_view bytes) { return JsonId(Fnv1aOf(bytes)); }

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
    reply = Shared(request);
  } catch (const std::exception& e) {  // out of memory, or a JSON bug of ours
    reply = ErrorReply(500, std::string("The answer failed: ") + e.what(),
                       request.path.substr(0, 256),
                       "Please report this with the daemon's version.");
  }
  if (reply.status == 200 && !reply.etag.empty() &&
      NamesTag(request.if_none_match, reply.etag)) {
    reply.status = 304;
    reply.body.clear();
    reply.gzipped = false;
  }
  Count(reply);
  return reply;
}

void Site::Count(const HttpReply& reply) {
  MutexLock lock(mutex_);
  ++requests_[{reply.handler, reply.status}];
}

// Who says max-age=1 takes what others were told a second ago.
HttpReply Site::Shared(const HttpRequest& request) {
  if (auto refused = Refused(request)) return *refused;
  const bool shared = request.method == "GET" &&
                      request.path.starts_with("/api/") &&
                      request.cache_control == "max-age=1";
  if (!shared) return Finished(request);
  const std::string key =
      request.path + '?' + request.query +
      (AcceptsGzip(request.accept_encoding) ? " gzip" : " plain") +
      (request.from_loopback() ? " here " : " there ") +
      (request.caller ? request.caller->name : "");
  return cache_.Get(key, backend_.now(), kShared,
                    [&] { return Finished(request); });
}

HttpReply Site::Finished(const HttpRequest& request) const {
  HttpReply reply = Route(request);
  const bool json = reply.content_type == kJsonType && reply.status == 200;
  if (json && request.method != "POST") reply.etag = TagOf(reply.body);
  if (!reply.gzipped && reply.body.size() >= kGzipFrom &&
      AcceptsGzip(request.accept_encoding)) {
    if (auto packed = Gzip(reply.body)) {
      reply.body = std::move(*packed);
      reply.gzipped = true;
    }
  }
  return reply;
}

std::optional<HttpReply> Site::Refused(const HttpRequest& request) const {
  const bool post = request.method == "POST" &&
                    request.path.starts_with("/api/v1/runs/") &&
                    request.path.ends_with("/annotations");
  if (request.method != "GET" && request.method != "HEAD" && !post) {
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
  return std::nullopt;
}

HttpReply Site::Route(const HttpRequest& request) const {
  const std::string& path = request.path;
  if (path == "/metrics") return Metrics(request);
  if (path == "/-/healthy") return Page(kPlainText, "Healthy.\n", "healthy");
  if (path == "/-/ready") return Ready();
  if (auto page = AnswerPage(path, request.accept_encoding)) return *page;
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
    return api_.Answer(*segments, std::move(*query), request);
  }
  return ErrorReply(404, "There is nothing under this path.",
                    path.substr(0, 256), "Start at /.");
}

HttpReply Site::Metrics(const HttpRequest& request) const {
  const Caller& who = CallerOf(backend_, request);
  if (!SeesAll(backend_, who)) {
    return ErrorReply(403, "Metrics show the runs of all users.", "access.read",
                      "Name the scraper's user in access.admins, or set "
                      "access.read: everyone.");
  }
  const MetricsFormat format = NegotiateFormat(request.accept);
  HttpReply reply = Page(ContentType(format), "", "metrics");
  Render(format, exposition_.Gather(), &reply.body);
  return reply;
}

HttpReply Site::Ready() const {
  const std::string reason = backend_.not_ready();
  HttpReply reply =
      Page(kPlainText, reason.empty() ? "Ready.\n" : reason + "\n", "ready");
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
