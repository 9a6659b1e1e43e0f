// The sections of the file, each read over its options.

#ifndef NANWATCH_CONFIG_SECTIONS_H_
#define NANWATCH_CONFIG_SECTIONS_H_

#include "config/config.h"
#include "config/yaml_section.h"

namespace nanwatch {

void ReadIngest(YamlSection section, RpcOptions* options);
void ReadAccess(YamlSection section, AccessOptions* options);
void ReadQuotas(YamlSection section, UserQuotas* quotas);
void ReadWeb(YamlSection section, WebOptions* options);
void ReadMetrics(YamlSection section, MetricsOptions* options);
void ReadHistory(YamlSection section, bool* enabled, HistoryOptions* options);
void ReadEngine(YamlSection section, EngineOptions* options);
void ReadAlerts(YamlSection section, AlertPolicy* policy);
void ReadAlertmanager(YamlSection section, AlertmanagerOptions* options);
void ReadWebhook(YamlSection section, WebhookOptions* options);
void ReadNotify(YamlSection section, NotifyOptions* options);
void ReadUpstream(YamlSection section, RelayOptions* options);
// "upstream" or "push.otlp": an address of gRPC.
void ReadGrpcAddress(YamlSection section, std::string* address);
void ReadPush(YamlSection section, PushOptions* options);
void ReadLog(YamlSection section, LogOptions* options);
void ReadBenchmarks(YamlSection section,
                    std::map<std::string, std::string>* of_job);
void ReadAudit(YamlSection section, AuditOptions* options);

// `rules`: of AllRules(), with their defaults. Thresholds take numbers in the
// range of their ThresholdSpec; those in seconds also times ("15m").
void ReadRules(YamlSection section, RulesInForce* rules);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_SECTIONS_H_
