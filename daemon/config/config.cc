#include "config/config.h"

#include <unistd.h>

#include <exception>

#include "config/addresses.h"
#include "config/config_text.h"
#include "config/sections.h"
#include "config/web_file.h"
#include "config/yaml_tree.h"
#include "detect/all_rules.h"

namespace nanwatch {
namespace {

void ReadAll(const YAML::Node& root, ConfigReading* reading,
             DaemonConfig* config) {
  YamlSection top(root, "", reading);
  ReadIngest(top.Section("ingest"), &config->server);
  ReadAccess(top.Section("access"), &config->server.access);
  ReadQuotas(top.Section("quotas"), &config->server.quotas);
  ReadWeb(top.Section("web"), &config->web);
  ReadMetrics(top.Section("metrics"), &config->metrics);
  ReadHistory(top.Section("history"), &config->history_enabled,
              &config->history);
  ReadEngine(top.Section("engine"), &config->engine);
  ReadAlerts(top.Section("alerts"), &config->engine.alert);
  ReadNotify(top.Section("notify"), &config->notify);
  ReadUpstream(top.Section("upstream"), &config->upstream);
  ReadPush(top.Section("push"), &config->push);
  ReadLog(top.Section("log"), &config->log);
  ReadAudit(top.Section("audit"), &config->audit);
  ReadBenchmarks(top.Section("benchmarks"), &config->benchmarks);
  ReadRules(top.Section("rules"), &config->rules);
  top.Finish();
}

// Reads the file that protects HTTP, and says what of HTTP does not go
// together; empty: it does.
std::string CheckWeb(DaemonConfig* config) {
  WebOptions& web = config->web;
  if (web.listen.empty()) return "";
  if (!web.config_file.empty()) {
    Result<WebProtection> protection = LoadWebFile(web.config_file);
    if (!protection.ok()) return protection.error();
    web.protection = std::move(*protection);
  }
  const std::string open = WhyInsecure(web.listen, web.protection);
  if (!open.empty() && !web.insecure) {
    return "web.listen: " + open +
           ". Set web.config_file (deploy/web-config.yml), or web.insecure: "
           "true if that is meant.";
  }
  if (!config->server.access.read_by_everyone && !web.protection.asks()) {
    return "access.read is owner, and over HTTP nobody is asked who he is: set "
           "web.config_file with basic_auth_users, web.listen: off, or "
           "access.read: everyone.";
  }
  return "";
}

}  // namespace

DaemonConfig DefaultConfig() {
  DaemonConfig config;
  const Environment environment = ProcessEnvironment();
  config.server.socket_path = DefaultSocketPath(environment, getuid());
  config.history.path = DefaultHistoryPath(environment, getuid());
  config.rules = DefaultRules();
  return config;
}

Result<DaemonConfig> ParseConfig(std::string_view yaml,
                                 const std::string& file) {
  if (yaml.size() > kConfigTextMost) {
    return Error{file + ": The file has " + std::to_string(yaml.size()) +
                 " bytes; a configuration has at most " +
                 std::to_string(kConfigTextMost) + "."};
  }
  DaemonConfig config = DefaultConfig();
  ConfigReading reading;
  try {
    ReadAll(LoadTree(std::string(yaml), &reading), &reading, &config);
  } catch (const std::exception& e) {  // yaml-cpp throws where it pleases
    reading.problems.push_back(
        {0, 0, std::string("The file cannot be read: ") + e.what() + "."});
  }
  if (reading.problems.empty()) return config;
  return Error{Describe(file, std::move(reading.problems))};
}

Result<DaemonConfig> LoadConfig(const std::string& file) {
  const Result<std::string> text = ReadConfigText(file);
  if (!text.ok()) return Error{text.error()};
  return ParseConfig(*text, file);
}

Status ApplyFlags(const ConfigFlags& flags, DaemonConfig* config) {
  const auto section = [](const char* name, const std::string& key,
                          const std::string& text, ConfigReading* reading) {
    YAML::Node node;
    if (!text.empty()) node[key] = text;
    return YamlSection(node, name, reading);
  };
  ConfigReading socket;
  ReadIngest(section("--socket: ingest", "socket", flags.socket, &socket),
             &config->server);
  ConfigReading listen;
  ReadWeb(section("--listen: web", "listen", flags.listen, &listen),
          &config->web);
  ConfigReading upstream;
  if (!flags.upstream.empty()) {
    RelayOptions& relay = config->upstream;
    YAML::Node node;
    node["address"] = flags.upstream;
    // What the file says beside the address stays.
    ReadGrpcAddress(YamlSection(node, "--upstream: upstream", &upstream),
                    &relay.address);
  }
  std::string said;
  for (const ConfigReading* reading : {&socket, &listen, &upstream}) {
    for (const ConfigProblem& problem : reading->problems) {
      said += (said.empty() ? "" : "\n") + problem.sentence;
    }
  }
  const RpcOptions& server = config->server;
  if (said.empty() && server.socket_path.empty() &&
      server.tcp_address.empty()) {
    said =
        "ingest.socket and ingest.tcp are both off: no training could report; "
        "set one of them, or pass --socket PATH.";
  }
  if (said.empty()) said = CheckWeb(config);
  if (said.empty()) return OkStatus();
  return Error{said};
}

std::vector<std::string> ConfigKeys() {
  DaemonConfig config = DefaultConfig();
  ConfigReading reading;
  ReadAll(YAML::Node(), &reading, &config);
  return reading.keys;
}

}  // namespace nanwatch
