#include "notify/alertmanager.h"

#include <spdlog/fmt/fmt.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace nanwatch {
namespace {

using Json = nlohmann::ordered_json;

void PutIfAny(Json* object, const char* name, std::string value) {
  if (!value.empty()) (*object)[name] = std::move(value);
}

// A run that only ended is not cured.
std::string SummaryOf(const Notice& notice) {
  const Incident& incident = notice.incident;
  const bool ended = notice.resolved && !incident.resolved_step;
  return (ended ? "The run ended, and this was not over. " : "") +
         incident.summary;
}

Json Annotations(const Alert& alert, const LinkBases& bases) {
  const Notice& notice = alert.shown;
  const Incident& incident = notice.incident;
  Json json = Json::object();
  json["summary"] = SummaryOf(notice);
  PutIfAny(&json, "description", DescriptionOf(incident));
  json["diagnosis"] = Name(incident.cause);
  PutIfAny(&json, "action", ActionsOf(notice));
  PutIfAny(&json, "place", PlaceOf(incident));
  PutIfAny(&json, "op", incident.subject.op);
  json["step"] = std::to_string(incident.opened_step);
  json["attempt"] = std::to_string(notice.run.attempt);
  PutIfAny(&json, "job", notice.job);
  json["incident"] = fmt::format("{:016x}", incident.id);
  if (alert.incidents > 1) {
    json["incidents"] = std::to_string(alert.incidents);
  }
  PutIfAny(&json, "acknowledged_by", incident.acknowledged_by);
  PutIfAny(&json, "resolved_reason", OverReason(notice));
  PutIfAny(&json, "page_url", PageOf(notice, bases));
  PutIfAny(&json, "runbook_url", RunbookOf(notice, bases));
  return json;
}

}  // namespace

std::string Rfc3339(Time time) {
  const int64_t micros = ToMicros(time);
  const std::time_t seconds = micros / 1'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                     utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, micros % 1'000'000);
}

std::string AlertsJson(std::span<const Alert> alerts, const LinkBases& bases) {
  Json json = Json::array();
  for (const Alert& alert : alerts) {
    Json one;
    one["labels"] = {{"alertname", alert.labels.alertname},
                     {"severity", alert.labels.severity},
                     {"run_id", alert.labels.run_id},
                     {"condition", alert.labels.condition}};
    one["annotations"] = Annotations(alert, bases);
    one["startsAt"] = Rfc3339(alert.starts);
    one["endsAt"] = Rfc3339(alert.ends);
    PutIfAny(&one, "generatorURL", PageOf(alert.shown, bases));
    json.push_back(std::move(one));
  }
  // Names come from clients: what is no UTF-8 is replaced, not thrown at us.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nanwatch
