#include "push/otlp_request.h"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace nanwatch {
namespace {

using Attributes = google::protobuf::RepeatedPtrField<push::v1::KeyValue>;

// OTLP's DataPointFlags: the series ends.
constexpr uint32_t kNoRecordedValue = 1;

void Add(Attributes* to, const std::string& key, const std::string& value) {
  if (value.empty()) return;
  push::v1::KeyValue* pair = to->Add();
  pair->set_key(key);
  pair->mutable_value()->set_string_value(value);
}

void Add(Attributes* to, const std::string& key, int64_t value) {
  push::v1::KeyValue* pair = to->Add();
  pair->set_key(key);
  pair->mutable_value()->set_int_value(value);
}

void Fill(const OtlpSender& sender, push::v1::Resource* resource,
          push::v1::Scope* scope) {
  Attributes* attributes = resource->mutable_attributes();
  Add(attributes, "service.name", "nanwatchd");
  Add(attributes, "service.version", sender.version);
  for (const auto& [name, value] : sender.labels) {
    Add(attributes, name, value);
  }
  scope->set_name("nanwatch");
  scope->set_version(sender.version);
}

uint64_t Nanos(Time time) { return ToMicros(time) * 1000; }

// SeverityNumber of OTLP's logs: INFO, WARN, ERROR. What is over is news.
int SeverityNumberOf(const Notice& notice) {
  constexpr std::array<int, 4> kNumbers = {9, 9, 13, 17};
  if (notice.resolved) return kNumbers[0];
  return kNumbers[static_cast<int>(notice.incident.severity)];
}

void Fill(const Notice& notice, push::v1::LogRecord* record) {
  const Incident& incident = notice.incident;
  record->set_event_name("nanwatch.incident");
  record->set_time_unix_nano(Nanos(incident.updated));
  record->set_severity_number(SeverityNumberOf(notice));
  record->set_severity_text(std::string(Name(incident.severity)));
  record->mutable_body()->set_string_value(incident.summary);
  Attributes* to = record->mutable_attributes();
  Add(to, "nanwatch.incident.id", fmt::format("{:016x}", incident.id));
  Add(to, "nanwatch.incident.state", std::string(Name(incident.state)));
  Add(to, "nanwatch.incident.condition",
      std::string(Name(incident.alert_family)));
  Add(to, "nanwatch.incident.cause", std::string(Name(incident.cause)));
  Add(to, "nanwatch.run.id", notice.run.run_id);
  Add(to, "nanwatch.run.attempt", notice.run.attempt);
  Add(to, "nanwatch.job.name", notice.job);
  Add(to, "nanwatch.step", incident.opened_step);
  if (incident.subject.rank >= 0) {
    Add(to, "nanwatch.rank", incident.subject.rank);
  }
  Add(to, "nanwatch.op.name", incident.subject.op);
  Add(to, "host.name", incident.host);
}

}  // namespace

push::v1::ExportMetricsRequest MetricsRequestOf(std::span<const Moment> moments,
                                                const OtlpSender& sender) {
  push::v1::ExportMetricsRequest request;
  push::v1::ResourceMetrics* all = request.add_resource_metrics();
  push::v1::ScopeMetrics* scope = all->add_scope_metrics();
  Fill(sender, all->mutable_resource(), scope->mutable_scope());
  for (int field = 0; field < kPushedFields; ++field) {
    push::v1::Metric* metric = nullptr;
    for (const Moment& moment : moments) {
      if ((moment.fields >> field & 1) == 0) continue;
      if (metric == nullptr) {
        metric = scope->add_metrics();
        metric->set_name("nanwatch.step." + std::string(PushedName(field)));
        metric->set_unit("1");
      }
      push::v1::NumberDataPoint* point =
          metric->mutable_gauge()->add_data_points();
      point->set_time_unix_nano(moment.ms * 1'000'000);
      if (moment.ends) {
        point->set_flags(kNoRecordedValue);
      } else {
        point->set_as_double(moment.value[field]);
      }
      const LaneKey& lane = moment.lane->key;
      Attributes* to = point->mutable_attributes();
      Add(to, "nanwatch.run.id", lane.run.run_id);
      Add(to, "nanwatch.run.attempt", lane.run.attempt);
      Add(to, "nanwatch.rank", lane.rank);
      Add(to, "nanwatch.optimizer.name", lane.optimizer);
    }
  }
  return request;
}

push::v1::ExportLogsRequest LogsRequestOf(const std::deque<Notice>& notices,
                                          const OtlpSender& sender, Time now) {
  push::v1::ExportLogsRequest request;
  push::v1::ResourceLogs* all = request.add_resource_logs();
  push::v1::ScopeLogs* scope = all->add_scope_logs();
  Fill(sender, all->mutable_resource(), scope->mutable_scope());
  for (const Notice& notice : notices) {
    push::v1::LogRecord* record = scope->add_log_records();
    Fill(notice, record);
    record->set_observed_time_unix_nano(Nanos(now));
  }
  return request;
}

}  // namespace nanwatch
