// DaemonConfig: everything that can be set, and the YAML file that sets it.
// Keys, defaults and their meaning: deploy/nanwatch.yaml.

#ifndef NANWATCH_CONFIG_CONFIG_H_
#define NANWATCH_CONFIG_CONFIG_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "engine/engine.h"
#include "history/history.h"
#include "metrics/options.h"
#include "model/rule.h"
#include "notify/options.h"
#include "push/options.h"
#include "relay/options.h"
#include "rpc/options.h"
#include "web/options.h"

namespace nanwatch {

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  bool json = false;
};

struct AuditOptions {
  std::string file;      // empty: none
  bool journal = false;  // the system's
};

struct DaemonConfig {
  RpcOptions server;
  WebOptions web;
  MetricsOptions metrics;
  bool history_enabled = true;
  HistoryOptions history;
  EngineOptions engine;
  NotifyOptions notify;
  RelayOptions upstream;
  PushOptions push;
  LogOptions log;
  AuditOptions audit;
  RulesInForce rules;
  // What runs of a job are held against: RUN or RUN@ATTEMPT, by job.
  std::map<std::string, std::string> benchmarks;
};

// What holds without a file: the paths follow the process's user and
// environment (config/addresses.h).
DaemonConfig DefaultConfig();

// Over the defaults. An error has every problem of the text, a line each:
// "FILE:LINE:COLUMN: sentence". An empty text is the defaults.
Result<DaemonConfig> ParseConfig(std::string_view yaml,
                                 const std::string& file);
// Reads the file first.
Result<DaemonConfig> LoadConfig(const std::string& file);

// What a command line says over a file, in the words of ingest.socket and
// web.listen ("off", "auto"). Empty: nothing.
struct ConfigFlags {
  std::string socket;
  std::string listen;
  std::string upstream;
};
// An error has a line for each flag that is wrong: "--listen: sentence". It is
// one too when there is nowhere left where trainings could report, or HTTP
// would be open to others. Reads web.config_file.
Status ApplyFlags(const ConfigFlags& flags, DaemonConfig* config);

// Every key that may stand in a file, dotted ("web.listen").
std::vector<std::string> ConfigKeys();

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_CONFIG_H_
