#include "web/annotation_request.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "model/caller.h"
#include "model/limits.h"
#include "web/json_reply.h"

namespace nanwatch {
namespace {

constexpr int64_t kLongestMuteSeconds = 10 * 365 * 24 * 3600ll;

HttpReply Refused(const std::string& what, const std::string& what_to_do) {
  return ErrorReply(403, what, "annotations", what_to_do);
}

// "http://HOST" or "https://HOST" of the page that the daemon itself served;
// a proxy in front of it may have another scheme.
bool SameOrigin(const HttpRequest& request) {
  const std::string& origin = request.origin;
  const bool site = request.fetch_site.empty() ||
                    request.fetch_site == "same-origin" ||
                    request.fetch_site == "none";
  if (!site) return false;
  if (origin.empty()) return true;  // no browser: those send it with a POST
  return origin == "http://" + request.host ||
         origin == "https://" + request.host;
}

std::optional<HttpReply> WhyNot(const WebBackend& backend,
                                const HttpRequest& request) {
  if (!backend.annotate) {
    return ErrorReply(503, "This daemon takes no annotations over HTTP.",
                      "annotations", "Use nanwatch mute or nanwatch ack.");
  }
  if (!MayAnnotate(backend, request)) {
    return Refused(
        "Annotations are taken from the daemon's machine alone, as "
        "nobody is asked who he is.",
        "Use nanwatch mute or nanwatch ack there, or set "
        "web.config_file with basic_auth_users.");
  }
  if (!SameOrigin(request)) {
    return Refused("Another site's page sent this.",
                   "Open the daemon's own page.");
  }
  if (request.purpose != "annotate") {
    return Refused("The header X-Nanwatch: annotate is missing.",
                   "Send it; a form of another site cannot.");
  }
  if (!request.content_type.starts_with("application/json")) {
    return ErrorReply(415, "The body is not application/json.", "annotations",
                      "Send Content-Type: application/json.");
  }
  return std::nullopt;
}

// Reads the keys of the body one by one; keeps the first problem.
class RequestFields {
 public:
  explicit RequestFields(const Json& json) : json_(json) {}

  std::string Text(const char* name) {
    known_.insert(name);
    if (!json_.contains(name)) return "";
    const Json& value = json_[name];
    if (!value.is_string()) return Complain(name, "a text");
    auto text = value.get<std::string>();
    if (text.size() > limits::kSettingBytes) {
      return Complain(name, "a text of at most " +
                                std::to_string(limits::kSettingBytes) +
                                " bytes");
    }
    return text;
  }
  int64_t Whole(const char* name, int64_t max) {
    known_.insert(name);
    if (!json_.contains(name)) return 0;
    const Json& value = json_[name];
    const bool whole = value.is_number_integer() || value.is_number_unsigned();
    const int64_t given = whole ? value.get<int64_t>() : -1;
    if (given >= 0 && given <= max) return given;
    Complain(name, "a whole number from 0 to " + std::to_string(max));
    return 0;
  }
  std::string Complain(const char* name, const std::string& what) {
    if (problem_.empty()) {
      problem_ = "The key " + std::string(name) + " is not " + what + ".";
    }
    return "";
  }
  // Empty: all was well.
  std::string Problem() {
    for (const auto& [name, value] : json_.items()) {
      if (!problem_.empty()) break;
      if (known_.count(name) == 0) {
        problem_ = "The key " + name.substr(0, 64) + " is not known here.";
      }
    }
    return problem_;
  }

 private:
  const Json& json_;
  std::set<std::string> known_;
  std::string problem_;
};

std::optional<uint64_t> IdOf(const std::string& text) {
  uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id, 16);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return id;
}

Result<Annotation> ReadAnnotation(const Json& json, const RunView& run,
                                  const std::string& caller, Time now) {
  RequestFields fields(json);
  Annotation annotation;
  const std::string kind = fields.Text("kind");
  if (kind == "mute") {
    annotation.kind = Annotation::Kind::kMute;
  } else if (kind == "unmute") {
    annotation.kind = Annotation::Kind::kUnmute;
  } else if (kind == "acknowledge") {
    annotation.kind = Annotation::Kind::kAcknowledge;
  } else {
    fields.Complain("kind", "mute, unmute or acknowledge");
  }
  const std::optional<uint64_t> id = IdOf(fields.Text("incident"));
  const bool known =
      id && std::any_of(run.incidents.begin(), run.incidents.end(),
                        [&](const Incident& one) { return one.id == *id; });
  if (!known) fields.Complain("incident", "the id of an incident of this run");
  annotation.incident = id.value_or(0);
  annotation.by = Speaker(fields.Text("by"), caller);
  annotation.reason = fields.Text("reason");
  const int64_t seconds = fields.Whole("for_seconds", kLongestMuteSeconds);
  if (seconds > 0) annotation.until = now + std::chrono::seconds(seconds);
  if (std::string problem = fields.Problem(); !problem.empty()) {
    return Error{std::move(problem)};
  }
  return annotation;
}

}  // namespace

bool MayAnnotate(const WebBackend& backend, const HttpRequest& request) {
  return backend.annotate && (request.caller || request.from_loopback());
}

HttpReply AnswerAnnotation(const WebBackend& backend,
                           const HttpRequest& request,
                           const std::string& run_id,
                           std::optional<int32_t> attempt) {
  if (auto refused = WhyNot(backend, request)) return *refused;
  const Json json = Json::parse(request.body, nullptr, false);
  if (!json.is_object()) return BadParameter("The body is no JSON object.");
  const auto run = backend.snapshot()->Find(run_id, attempt);
  if (run == nullptr) return NoSuchRun(run_id);
  const Caller& who = CallerOf(backend, request);
  const std::string& owner = run->description.owner;
  if (!MayRead(backend, owner, who)) return NoSuchRun(run_id);
  // The port is everybody's on this machine.
  const bool his = request.caller || owner.empty() ||
                   request.local_number == backend.speaks_as.number;
  if (!his || !MayChange(owner, who)) {
    return Refused("The run belongs to " + owner +
                       (request.caller ? ", and you are " + who.name + "."
                                       : ", and nobody was asked who he is."),
                   "Use nanwatch mute or nanwatch ack as " + owner +
                       ", or as an administrator (access.admins).");
  }
  const Result<Annotation> annotation = ReadAnnotation(
      json, *run, request.caller ? request.caller->name : "", backend.now());
  if (!annotation.ok()) return BadParameter(annotation.error());
  Caller speaker = request.caller.value_or(Caller{});
  speaker.from = request.remote;
  const Status posted = backend.annotate(run->key, *annotation, speaker);
  if (!posted.ok()) {
    return ErrorReply(503, posted.error(), run_id, "Try again.");
  }
  return JsonReply({{"run_id", run->key.run_id},
                    {"attempt", run->key.attempt},
                    {"by", annotation->by}},
                   "annotations");
}

}  // namespace nanwatch
