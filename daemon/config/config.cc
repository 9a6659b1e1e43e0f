#include "config/config.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>

#include "config/addresses.h"
#include "config/sections.h"
#include "config/yaml_tree.h"
#include "detect/rules.h"

namespace nanwatch {
namespace {

// A file with every key is 10 KB. Above this it is not a configuration.
constexpr size_t kFileMax = 1 << 20;

void ReadAll(const YAML::Node& root, ConfigReading* reading,
             DaemonConfig* config) {
  YamlSection top(root, "", reading);
  ReadIngest(top.Section("ingest"), &config->server);
  ReadAccess(top.Section("access"), &config->server.access);
  ReadWeb(top.Section("web"), &config->web);
  ReadMetrics(top.Section("metrics"), &config->metrics);
  ReadHistory(top.Section("history"), &config->history_enabled,
              &config->history);
  ReadEngine(top.Section("engine"), &config->engine);
  ReadAlerts(top.Section("alerts"), &config->engine.alert);
  ReadNotify(top.Section("notify"), &config->notify);
  ReadLog(top.Section("log"), &config->log);
  ReadRules(top.Section("rules"), &config->rules);
  top.Finish();
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
  if (yaml.size() > kFileMax) {
    return Error{file + ": The file has " + std::to_string(yaml.size()) +
                 " bytes; a configuration has at most " +
                 std::to_string(kFileMax) + "."};
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
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  if (stream) {
    text.resize(kFileMax + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    return Error{file + ": The file cannot be read: " + std::strerror(errno) +
                 ". Check its path and who may read it."};
  }
  return ParseConfig(text, file);
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
  std::string said;
  for (const ConfigReading* reading : {&socket, &listen}) {
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
  if (said.empty() && !server.access.read_by_everyone &&
      !config->web.listen.empty()) {
    said =
        "access.read is owner, and over HTTP nobody is asked who he is: set "
        "web.listen: off, or access.read: everyone.";
  }
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
