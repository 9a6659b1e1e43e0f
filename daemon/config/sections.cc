#include "config/sections.h"

#include <charconv>

#include "config/url_check.h"
#include "model/limits.h"
#include "notify/template.h"

namespace nanwatch {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kYear = hours(24 * 366);
// The word for "as without a file".
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kOff = "off";
// sun_path of Linux, with its final 0.
constexpr size_t kSocketPathMax = 107;

// "HOST:PORT" or "[HOST]:PORT", the host given.
bool IsHostAndPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (!bracketed && host.find(':') != std::string_view::npos) return false;
  const std::string_view port = text.substr(colon + 1);
  unsigned number = 0;
  const auto [stop, error] =
      std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && stop == port.data() + port.size() &&
         number <= 65535;
}

bool StaysOnHost(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("[::1]:") ||
         address.starts_with("localhost:");
}

// What of the TCP port does not go together.
void CheckTcp(YamlSection* section, const RpcOptions& options) {
  const bool tls = !options.tls.certificate.empty();
  const bool names = !options.tokens.empty() || !options.tls.client_ca.empty();
  if (options.tcp_address.empty()) {
    if (tls || names) {
      section->Complain("tls",
                        ", ingest.tokens: they are for ingest.tcp, which is "
                        "off.");
    }
  } else if (!tls && !StaysOnHost(options.tcp_address)) {
    section->Complain("tcp",
                      " must be a loopback address such as 127.0.0.1:9766, or "
                      "off: for others set ingest.tls.");
  } else if (tls && !names) {
    section->Complain("tls",
                      ": nobody could say who he is: set ingest.tokens, or "
                      "ingest.tls.client_ca.");
  } else if (options.tcp_anonymous && (tls || names)) {
    section->Complain("tcp_anonymous",
                      " is for a loopback address without ingest.tls and "
                      "ingest.tokens.");
  } else if (!tls && options.tokens.empty() && !options.tcp_anonymous) {
    section->Complain("tcp",
                      ": set ingest.tokens, so that callers can say who they "
                      "are, or ingest.tcp_anonymous: true.");
  }
}

void ReadTlsSection(YamlSection section, TlsOptions* options) {
  section.Text("certificate", &options->certificate);
  section.Text("key", &options->key);
  section.Text("client_ca", &options->client_ca);
  if (options->certificate.empty() != options->key.empty()) {
    section.Complain(options->key.empty() ? "certificate" : "key",
                     ": ingest.tls.certificate and ingest.tls.key go "
                     "together.");
  } else if (options->certificate.empty() && !options->client_ca.empty()) {
    section.Complain("client_ca", " needs ingest.tls.certificate.");
  }
  section.Finish();
}

// A text with "auto" for what `*value` holds and "off" for none. An empty one
// is a variable that was not set, as it is for the flags.
void ReadAddress(YamlSection* section, const std::string& key,
                 std::string* value) {
  std::string text(kAuto);
  section->Text(key, &text);
  if (text.empty()) {
    section->Complain(key,
                      " is empty; leave the key out for the default, or set "
                      "off.");
  } else if (text == kOff) {
    value->clear();
  } else if (text != kAuto) {
    *value = text;
  }
}

void ReadBoundedCount(YamlSection* section, const std::string& key, int min,
                      int max, int* value) {
  int64_t number = *value;
  section->Whole(key, min, max, &number);
  *value = static_cast<int>(number);
}

void ReadBytes(YamlSection* section, const std::string& key, uint64_t min,
               uint64_t max, size_t* value) {
  uint64_t bytes = *value;
  section->Size(key, min, max, "", &bytes);
  *value = bytes;
}

void ReadMode(YamlSection* section, const std::string& key, unsigned* mode) {
  std::string text(kAuto);
  section->Text(key, &text);
  if (text == kAuto) return;
  unsigned number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 8);
  if (error == std::errc() && stop == end && number <= 0777) {
    *mode = number;
  } else {
    section->Complain(key, " must be an octal file mode such as \"0660\".");
  }
}

// Each at its own place in the list.
void ReadUrls(YamlSection* section, const std::string& key,
              std::vector<std::string>* urls) {
  section->Texts(key, urls);
  for (size_t i = 0; i < urls->size(); ++i) {
    const std::string wrong = WhatIsWrongWithUrl((*urls)[i]);
    if (!wrong.empty()) section->ComplainOfItem(key, i, wrong);
  }
}

void ReadUrlOfPages(YamlSection* section, const std::string& key,
                    std::string* url) {
  section->Text(key, url);
  if (url->empty()) return;
  const std::string wrong = WhatIsWrongWithUrl(*url);
  if (!wrong.empty()) section->Complain(key, wrong);
}

void ReadMaskedOps(YamlSection* section, std::vector<std::string>* names) {
  const std::string key = "masked_ops";
  section->Texts(key, names);
  if (names->size() > limits::kMaskedOps) {
    section->Complain(key, " takes at most " +
                               std::to_string(limits::kMaskedOps) + " names.");
  }
  for (size_t i = 0; i < names->size(); ++i) {
    const size_t bytes = (*names)[i].size();
    if (bytes > 0 && bytes <= limits::kNameBytes) continue;
    section->ComplainOfItem(key, i,
                            bytes == 0 ? " must not hold an empty name."
                                       : " holds a name above 512 bytes.");
  }
}
static_assert(limits::kNameBytes == 512);

}  // namespace

void ReadIngest(YamlSection section, RpcOptions* options) {
  ReadAddress(&section, "socket", &options->socket_path);
  if (!options->socket_path.empty() && options->socket_path.front() != '/') {
    section.Complain("socket", " must be an absolute path, auto or off.");
  }
  if (options->socket_path.size() > kSocketPathMax) {
    section.Complain("socket", " is too long for a unix socket; at most " +
                                   std::to_string(kSocketPathMax) + " bytes.");
  }
  ReadMode(&section, "socket_mode", &options->socket_mode);
  section.Text("socket_group", &options->socket_group);
  ReadAddress(&section, "tcp", &options->tcp_address);
  const std::string& tcp = options->tcp_address;
  if (!tcp.empty() && !IsHostAndPort(tcp)) {
    section.Complain("tcp",
                     " must be ADDRESS:PORT such as 127.0.0.1:9766, with a "
                     "port of at most 65535, or off.");
  }
  section.Flag("tcp_anonymous", &options->tcp_anonymous);
  section.Text("tokens", &options->tokens);
  ReadTlsSection(section.Section("tls"), &options->tls);
  CheckTcp(&section, *options);
  ReadBytes(&section, "memory", 64 << 20, 1ull << 40, &options->memory_bytes);
  section.Finish();
}

void ReadAccess(YamlSection section, AccessOptions* options) {
  section.Texts("admins", &options->admins);
  section.Texts("admin_groups", &options->admin_groups);
  section.Texts("users", &options->users);
  section.Texts("groups", &options->groups);
  section.Texts("relays", &options->relays);
  section.Choice<bool>("read", {{"everyone", true}, {"owner", false}},
                       &options->read_by_everyone);
  section.Finish();
}

void ReadWeb(YamlSection section, WebOptions* options) {
  ReadAddress(&section, "listen", &options->listen);
  if (!options->listen.empty() && !IsHostAndPort(options->listen)) {
    section.Complain("listen",
                     " must be ADDRESS:PORT such as 127.0.0.1:9765, with a "
                     "port of at most 65535, or off.");
  }
  section.Texts("allowed_hosts", &options->allowed_hosts);
  ReadBoundedCount(&section, "threads", 1, 64, &options->threads);
  section.Flag("annotations", &options->annotations);
  section.Text("config_file", &options->config_file);
  section.Flag("insecure", &options->insecure);
  Duration timeout = seconds(options->timeout_seconds);
  section.Time("timeout", seconds(1), seconds(300), "", &timeout);
  options->timeout_seconds =
      static_cast<int>(std::chrono::duration_cast<seconds>(timeout).count());
  section.Finish();
}

void ReadMetrics(YamlSection section, MetricsOptions* options) {
  section.Choice<Cardinality>("cardinality",
                              {{"low", Cardinality::kLow},
                               {"recommended", Cardinality::kRecommended},
                               {"full", Cardinality::kFull}},
                              &options->cardinality);
  auto series = static_cast<int64_t>(options->series_max);
  section.Whole("series_max", 100, limits::kMetricSeries, &series);
  options->series_max = static_cast<size_t>(series);
  section.Finish();
}

void ReadHistory(YamlSection section, bool* enabled, HistoryOptions* options) {
  section.Flag("enabled", enabled);
  std::string path(kAuto);
  section.Text("path", &path);
  if (path != kAuto) options->path = path;
  if (options->path.empty()) {
    section.Complain("path",
                     " is empty; for no history set history.enabled: "
                     "false.");
  } else if (path == kOff) {
    section.Complain("path",
                     " is off, which is no file; for no history set "
                     "history.enabled: false.");
  }
  section.Time("keep_for", hours(1), 10 * kYear, "never", &options->keep_for);
  section.Size("keep_bytes", 16ull << 20, 1ull << 50, "unlimited",
               &options->keep_bytes);
  section.Time("commit_interval", milliseconds(1), seconds(10), "",
               &options->commit_interval);
  ReadBytes(&section, "commit_bytes", 64 << 10, 64 << 20,
            &options->commit_bytes);
  ReadBytes(&section, "queue_bytes", 1 << 20, 4ull << 30,
            &options->queue_bytes);
  if (options->queue_bytes < options->commit_bytes) {
    section.Complain("queue_bytes", " must not be below history.commit_bytes.");
  }
  section.Finish();
}

void ReadEngine(YamlSection section, EngineOptions* options) {
  section.Time("lost_run_closes_after", seconds(1), kYear, "",
               &options->lost_run_closes_after);
  section.Time("ended_run_leaves_after", seconds(1), kYear, "",
               &options->ended_run_leaves_after);
  section.Choice<Severity>("stop_on",
                           {{"never", Severity::kNone},
                            {"warning", Severity::kWarning},
                            {"critical", Severity::kCritical}},
                           &options->stop_on);
  ReadMaskedOps(&section, &options->masked_ops);
  section.Finish();
}

void ReadAlerts(YamlSection section, AlertPolicy* policy) {
  section.Time("hold", seconds(30), hours(24), "", &policy->hold);
  section.Time("reopen_within", seconds(0), hours(24 * 7), "",
               &policy->reopen_within);
  section.Finish();
}

void ReadAlertmanager(YamlSection section, AlertmanagerOptions* options) {
  ReadUrls(&section, "urls", &options->urls);
  section.Time("resend", seconds(5), minutes(4), "", &options->resend);
  section.Finish();
}

void ReadWebhook(YamlSection section, WebhookOptions* options) {
  ReadUrls(&section, "urls", &options->urls);
  section.Text("body", &options->body);
  if (!options->body.empty()) {
    const Status body = CheckWebhookBody(options->body);
    if (!body.ok()) section.Complain("body", ": " + body.error() + ".");
  }
  section.Finish();
}

void ReadNotify(YamlSection section, NotifyOptions* options) {
  ReadAlertmanager(section.Section("alertmanager"), &options->alertmanager);
  ReadWebhook(section.Section("webhook"), &options->webhook);
  section.Choice<Severity>("from",
                           {{"info", Severity::kInfo},
                            {"warning", Severity::kWarning},
                            {"critical", Severity::kCritical}},
                           &options->from);
  section.Time("timeout", seconds(1), minutes(2), "", &options->timeout);
  ReadUrlOfPages(&section, "external_url", &options->external_url);
  ReadUrlOfPages(&section, "runbooks_url", &options->runbooks_url);
  section.Finish();
}

void ReadLog(YamlSection section, LogOptions* options) {
  section.Choice<LogLevel>("level",
                           {{"debug", LogLevel::kDebug},
                            {"info", LogLevel::kInfo},
                            {"warning", LogLevel::kWarning},
                            {"error", LogLevel::kError}},
                           &options->level);
  section.Flag("json", &options->json);
  section.Finish();
}

void ReadAudit(YamlSection section, AuditOptions* options) {
  section.Text("file", &options->file);
  section.Flag("journal", &options->journal);
  if (options->journal && !options->file.empty()) {
    section.Complain("journal",
                     " and audit.file exclude each other: set one of them.");
  }
  section.Finish();
}

void ReadBenchmarks(YamlSection section,
                    std::map<std::string, std::string>* of_job) {
  for (const std::string& job : section.Keys()) {
    std::string& run = (*of_job)[job];
    section.Text(job, &run);
    if (run.empty()) {
      section.Complain(job, " must name a run, such as base or base@0.");
    } else if (run.size() > limits::kNameBytes) {
      section.Complain(job, " is longer than 512 bytes.");
    }
  }
  section.Finish();
}

}  // namespace nanwatch
