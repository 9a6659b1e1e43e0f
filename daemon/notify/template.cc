#include "notify/template.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "notify/alert.h"
#include "notify/alertmanager.h"

namespace nanwatch {
namespace {

constexpr size_t kNameShown = 60;  // of a wrong placeholder

std::string StatusOf(const Notice& notice) {
  if (notice.resolved) return "resolved";
  return notice.incident.muted ? "muted" : "firing";
}

// As a shell reads it.
std::string Quoted(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (plain && !word.empty() && word[0] != '-') return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// What a person reads first: how bad, which run, where, what, and how to look.
// An end says why, since a run that only ended is not cured.
std::string HeadlineOf(const Notice& notice) {
  std::string where;
  for (const std::string& part : {notice.job.empty() ? "" : "job " + notice.job,
                                  PlaceOf(notice.incident)}) {
    if (!part.empty()) where += (where.empty() ? " (" : ", ") + part;
  }
  if (!where.empty()) where += ')';
  const std::string over =
      notice.resolved ? ": " + OverReason(notice) : std::string();
  return fmt::format("[{}{}] {} in run {}{}: {} Look: nanwatch diagnose {}",
                     StatusOf(notice), over, Name(notice.incident.severity),
                     notice.run.run_id, where, notice.incident.summary,
                     Quoted(notice.run.run_id));
}

// One line a placeholder; README.md lists them too.
struct Placeholder {
  std::string_view name;
  std::string (*value)(const Notice&);
};
constexpr Placeholder kPlaceholders[] = {
    {"headline", HeadlineOf},
    {"status", StatusOf},
    {"severity",
     [](const Notice& n) { return std::string(Name(n.incident.severity)); }},
    {"summary", [](const Notice& n) { return n.incident.summary; }},
    {"description", [](const Notice& n) { return DescriptionOf(n.incident); }},
    {"diagnosis",
     [](const Notice& n) { return std::string(Name(n.incident.cause)); }},
    {"action", ActionsOf},
    {"alertname",
     [](const Notice& n) {
       return std::string(AlertName(n.incident.alert_family));
     }},
    {"condition",
     [](const Notice& n) {
       return std::string(Name(n.incident.alert_family));
     }},
    {"run_id", [](const Notice& n) { return n.run.run_id; }},
    {"attempt", [](const Notice& n) { return std::to_string(n.run.attempt); }},
    {"job", [](const Notice& n) { return n.job; }},
    {"place", [](const Notice& n) { return PlaceOf(n.incident); }},
    {"op", [](const Notice& n) { return n.incident.subject.op; }},
    {"step",
     [](const Notice& n) { return std::to_string(n.incident.opened_step); }},
    {"incident",
     [](const Notice& n) { return fmt::format("{:016x}", n.incident.id); }},
    {"started", [](const Notice& n) { return Rfc3339(n.incident.fired); }},
    {"resolved_reason", OverReason},
};

std::optional<std::string> ValueOf(std::string_view name, const Notice& notice,
                                   const LinkBases& bases) {
  if (name == "url") return PageOf(notice, bases);
  if (name == "runbook_url") return RunbookOf(notice, bases);
  for (const Placeholder& placeholder : kPlaceholders) {
    if (placeholder.name == name) return placeholder.value(notice);
  }
  return std::nullopt;
}

std::string Escaped(const std::string& value) {
  using Json = nlohmann::json;
  std::string quoted =
      Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

// Calls `replace` with each placeholder's name, and puts in what it gives.
template <typename Replace>
std::string Fill(std::string_view body, Replace&& replace) {
  std::string filled;
  while (true) {
    const size_t begin = body.find("{{");
    const size_t end =
        begin == std::string_view::npos ? begin : body.find("}}", begin);
    if (end == std::string_view::npos) break;
    std::string_view name = body.substr(begin + 2, end - begin - 2);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    filled += body.substr(0, begin);
    const std::optional<std::string> value = replace(name);
    filled += value ? Escaped(*value)
                    : std::string(body.substr(begin, end + 2 - begin));
    body.remove_prefix(end + 2);
  }
  return filled += body;
}

}  // namespace

std::string_view DefaultWebhookBody() {
  return R"({
  "text": "{{headline}} {{url}}",
  "status": "{{status}}",
  "severity": "{{severity}}",
  "alertname": "{{alertname}}",
  "condition": "{{condition}}",
  "run_id": "{{run_id}}",
  "attempt": "{{attempt}}",
  "job": "{{job}}",
  "incident": "{{incident}}",
  "summary": "{{summary}}",
  "description": "{{description}}",
  "diagnosis": "{{diagnosis}}",
  "action": "{{action}}",
  "place": "{{place}}",
  "op": "{{op}}",
  "step": "{{step}}",
  "started": "{{started}}",
  "resolved_reason": "{{resolved_reason}}",
  "url": "{{url}}",
  "runbook_url": "{{runbook_url}}"
})";
}

Status CheckWebhookBody(std::string_view body) {
  std::string unknown;
  const Notice sample;
  const std::string filled = Fill(body, [&](std::string_view name) {
    std::optional<std::string> value = ValueOf(name, sample, {});
    if (!value) {
      unknown += fmt::format("{}{{{{{}}}}}", unknown.empty() ? "" : " or ",
                             name.substr(0, kNameShown));
    }
    return value;
  });
  std::string wrong;
  if (!unknown.empty()) {
    wrong = fmt::format(
        "there is no placeholder {}; daemon/notify/README.md lists them",
        unknown);
  }
  if (!nlohmann::json::accept(filled)) {
    wrong += fmt::format(
        "{}it is no JSON once its placeholders are filled in; they belong "
        "inside quotes",
        wrong.empty() ? "" : "; and ");
  }
  if (wrong.empty()) return OkStatus();
  return Error{wrong};
}

std::string RenderWebhookBody(std::string_view body, const Notice& notice,
                              const LinkBases& bases) {
  return Fill(body, [&](std::string_view name) {
    return ValueOf(name, notice, bases);
  });
}

}  // namespace nanwatch
