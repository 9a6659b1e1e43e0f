#include "config/config.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "detect/all_rules.h"

namespace nanwatch {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string Problems(std::string_view yaml) {
  const Result<DaemonConfig> config = ParseConfig(yaml, "f.yaml");
  return config.ok() ? "" : config.error();
}

void ExpectDefaults(const DaemonConfig& config) {
  const DaemonConfig defaults = DefaultConfig();
  EXPECT_EQ(config.server.socket_path, defaults.server.socket_path);
  EXPECT_EQ(config.server.socket_mode, defaults.server.socket_mode);
  EXPECT_EQ(config.server.socket_group, defaults.server.socket_group);
  EXPECT_EQ(config.server.tcp_address, defaults.server.tcp_address);
  EXPECT_EQ(config.server.tcp_anonymous, defaults.server.tcp_anonymous);
  EXPECT_EQ(config.server.tokens, defaults.server.tokens);
  EXPECT_EQ(config.server.tls.certificate, defaults.server.tls.certificate);
  EXPECT_EQ(config.server.access.admins, defaults.server.access.admins);
  EXPECT_EQ(config.server.access.admin_groups,
            defaults.server.access.admin_groups);
  EXPECT_EQ(config.server.access.users, defaults.server.access.users);
  EXPECT_EQ(config.server.access.groups, defaults.server.access.groups);
  EXPECT_EQ(config.server.access.read_by_everyone,
            defaults.server.access.read_by_everyone);
  EXPECT_EQ(config.web.listen, defaults.web.listen);
  EXPECT_EQ(config.web.allowed_hosts, defaults.web.allowed_hosts);
  EXPECT_EQ(config.web.threads, defaults.web.threads);
  EXPECT_EQ(config.web.annotations, defaults.web.annotations);
  EXPECT_EQ(config.web.timeout_seconds, defaults.web.timeout_seconds);
  EXPECT_EQ(config.metrics.cardinality, defaults.metrics.cardinality);
  EXPECT_EQ(config.metrics.series_max, defaults.metrics.series_max);
  EXPECT_EQ(config.history_enabled, defaults.history_enabled);
  EXPECT_EQ(config.history.path, defaults.history.path);
  EXPECT_EQ(config.history.keep_for, defaults.history.keep_for);
  EXPECT_EQ(config.history.keep_bytes, defaults.history.keep_bytes);
  EXPECT_EQ(config.history.commit_interval, defaults.history.commit_interval);
  EXPECT_EQ(config.history.commit_bytes, defaults.history.commit_bytes);
  EXPECT_EQ(config.history.queue_bytes, defaults.history.queue_bytes);
  EXPECT_EQ(config.engine.lost_run_closes_after,
            defaults.engine.lost_run_closes_after);
  EXPECT_EQ(config.engine.ended_run_leaves_after,
            defaults.engine.ended_run_leaves_after);
  EXPECT_EQ(config.engine.stop_on, defaults.engine.stop_on);
  EXPECT_EQ(config.engine.masked_ops, defaults.engine.masked_ops);
  EXPECT_EQ(config.engine.alert.hold, defaults.engine.alert.hold);
  EXPECT_EQ(config.engine.alert.reopen_within,
            defaults.engine.alert.reopen_within);
  EXPECT_EQ(config.notify.alertmanager.urls, defaults.notify.alertmanager.urls);
  EXPECT_EQ(config.notify.webhook.urls, defaults.notify.webhook.urls);
  EXPECT_EQ(config.notify.from, defaults.notify.from);
  EXPECT_EQ(config.notify.alertmanager.resend,
            defaults.notify.alertmanager.resend);
  EXPECT_EQ(config.notify.webhook.body, defaults.notify.webhook.body);
  EXPECT_EQ(config.notify.timeout, defaults.notify.timeout);
  EXPECT_EQ(config.notify.external_url, defaults.notify.external_url);
  EXPECT_EQ(config.notify.runbooks_url, defaults.notify.runbooks_url);
  EXPECT_EQ(config.log.level, defaults.log.level);
  EXPECT_EQ(config.log.json, defaults.log.json);
  EXPECT_EQ(config.rules, defaults.rules);
  EXPECT_TRUE(config.benchmarks.empty());
}

TEST(Config, AnEmptyTextIsTheDefaults) {
  for (const char* yaml : {"", "# nothing\n", "---\n", "{}", "web:\nlog:\n"}) {
    const auto config = ParseConfig(yaml, "f.yaml");
    ASSERT_TRUE(config.ok()) << config.error();
    ExpectDefaults(*config);
  }
}

TEST(Config, DefaultsAreSafe) {
  const DaemonConfig config = DefaultConfig();
  EXPECT_EQ(config.server.tcp_address, "");
  EXPECT_THAT(config.web.listen, ::testing::StartsWith("127.0.0.1:"));
  EXPECT_EQ(config.engine.stop_on, Severity::kNone);
}

TEST(Config, TheExampleIsTheDefaults) {
  const auto config = LoadConfig(NANWATCH_EXAMPLE_CONFIG);
  ASSERT_TRUE(config.ok()) << config.error();
  ExpectDefaults(*config);
}

// Every key, so that nothing can be set that the example does not explain.
TEST(Config, TheExampleHasEveryKey) {
  std::ifstream file(NANWATCH_EXAMPLE_CONFIG);
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string& key : ConfigKeys()) {
    if (key.starts_with("rules.")) continue;
    const std::string name = key.substr(key.rfind('.') + 1);
    EXPECT_THAT(text.str(), AnyOf(HasSubstr("\n  " + name + ":"),
                                  HasSubstr("\n    " + name + ":")))
        << key;
  }
}

TEST(Config, ReadsWhatItSays) {
  const auto config = ParseConfig(R"(
ingest: {socket: /tmp/x.sock, socket_mode: "0600", tcp: "127.0.0.1:0",
         tokens: /t, tls: {certificate: /c, key: /k, client_ca: /a}}
web: {listen: "[::1]:0", allowed_hosts: [a, b], annotations: false,
      timeout: 1m}
metrics: {cardinality: full, series_max: 500}
history: {keep_for: never, keep_bytes: 64MiB, enabled: false}
engine: {stop_on: critical, lost_run_closes_after: 1h30m, masked_ops: [a.*]}
notify:
  alertmanager: {urls: [http://am:9093]}
  webhook: {urls: [https://chat.example/x], body: '{"text": "{{summary}}"}'}
log: {level: debug, json: true}
benchmarks: {gpt: base@0, "7": other}
)",
                                  "f.yaml");
  ASSERT_TRUE(config.ok()) << config.error();
  EXPECT_EQ(config->server.socket_path, "/tmp/x.sock");
  EXPECT_EQ(config->server.socket_mode, 0600u);
  EXPECT_EQ(config->server.tcp_address, "127.0.0.1:0");
  EXPECT_EQ(config->server.tokens, "/t");
  EXPECT_EQ(config->server.tls.certificate, "/c");
  EXPECT_EQ(config->server.tls.key, "/k");
  EXPECT_EQ(config->server.tls.client_ca, "/a");
  EXPECT_EQ(config->web.listen, "[::1]:0");
  EXPECT_EQ(config->web.timeout_seconds, 60);
  EXPECT_EQ(config->web.allowed_hosts.size(), 2u);
  EXPECT_FALSE(config->web.annotations);
  EXPECT_EQ(config->metrics.cardinality, Cardinality::kFull);
  EXPECT_EQ(config->history.keep_for, Duration(0));
  EXPECT_EQ(config->history.keep_bytes, 64u << 20);
  EXPECT_FALSE(config->history_enabled);
  EXPECT_EQ(config->engine.stop_on, Severity::kCritical);
  EXPECT_THAT(config->engine.masked_ops, ::testing::ElementsAre("a.*"));
  EXPECT_EQ(config->engine.lost_run_closes_after,
            Duration(std::chrono::minutes(90)));
  EXPECT_EQ(config->notify.alertmanager.urls.size(), 1u);
  EXPECT_EQ(config->notify.webhook.urls.size(), 1u);
  EXPECT_EQ(config->notify.webhook.body, "{\"text\": \"{{summary}}\"}");
  EXPECT_EQ(config->benchmarks, (std::map<std::string, std::string>{
                                    {"7", "other"}, {"gpt", "base@0"}}));
  EXPECT_EQ(config->log.level, LogLevel::kDebug);
  EXPECT_TRUE(config->log.json);
}

TEST(Config, TellsEveryProblemAtOnceWithItsPlace) {
  EXPECT_EQ(Problems("web:\n"
                     "  lisen: 127.0.0.1:1\n"
                     "  threads: 900\n"
                     "history:\n"
                     "  keep_for: 30\n"
                     "  keep_for: 1d\n"
                     "colour: blue\n"),
            "f.yaml:2:3: web.lisen is not a key that is known here; did you "
            "mean listen?\n"
            "f.yaml:3:12: web.threads is '900'; it must be a whole number from "
            "1 to 64.\n"
            "f.yaml:5:13: history.keep_for is '30'; it must be a time from 1h "
            "to 3660d with its unit, such as 30s or 15m, or never.\n"
            "f.yaml:6:3: history.keep_for is given twice; remove one of "
            "them.\n"
            "f.yaml:7:1: colour is not a key that is known here.");
}

struct BadValue {
  const char* yaml;
  const char* told;
};
class BadValues : public ::testing::TestWithParam<BadValue> {};
TEST_P(BadValues, AreTold) {
  EXPECT_THAT(Problems(GetParam().yaml),
              AllOf(HasSubstr("f.yaml:"), HasSubstr(GetParam().told)));
}
INSTANTIATE_TEST_SUITE_P(
    Values, BadValues,
    ::testing::Values(
        BadValue{"ingest: {socket: x.sock}", "absolute path"},
        BadValue{"ingest: {tcp: 0.0.0.0:1}", "loopback"},
        BadValue{"ingest: {tcp: 127.0.0.1:1}", "ingest.tcp_anonymous: true"},
        BadValue{"ingest: {tcp: 127.0.0.1:1, tls: {key: /k}}", "go together"},
        BadValue{"ingest: {tcp: 0.0.0.0:1, tls: {certificate: /c, key: /k}}",
                 "ingest.tls.client_ca"},
        BadValue{"ingest: {tcp: 127.0.0.1:1, tls: {client_ca: /a}}",
                 "needs ingest.tls.certificate"},
        BadValue{"ingest: {tcp: 127.0.0.1:1, tcp_anonymous: true, tokens: /t}",
                 "ingest.tcp_anonymous"},
        BadValue{"ingest: {tokens: /t}", "which is off"},
        BadValue{"ingest: {socket: \"\"}",
                 "f.yaml:1:18: ingest.socket is empty"},
        BadValue{"ingest: {tcp: \"\"}", "ingest.tcp is empty"},
        BadValue{"ingest: {socket_mode: \"\"}", "octal"},
        BadValue{"web: {listen: \"\"}", "web.listen is empty"},
        BadValue{"history: {path: \"\"}", "history.path is empty"},
        BadValue{"history: {path: \"off\"}", "history.path is off"},
        // At the key, not at what follows.
        BadValue{"history:\n  path:\n\n\n\nlog: {level: info}\n",
                 "f.yaml:2:3: history.path has no value"},
        BadValue{"web:\n  allowed_hosts:\n\nlog: {level: info}\n",
                 "f.yaml:2:3: web.allowed_hosts must be a list"},
        BadValue{"ingest: {tcp: \"127.0.0.1:99999\"}", "at most 65535"},
        BadValue{"ingest: {socket_mode: rw}", "octal"},
        BadValue{"web: {listen: nowhere}", "ADDRESS:PORT"},
        BadValue{"web: {listen: \"1.2.3.4:99999\"}", "ADDRESS:PORT"},
        BadValue{"web: {threads: }", "has no value"},
        BadValue{"web: {threads: [1]}", "not one value"},
        BadValue{"web: {allowed_hosts: a}", "must be a list"},
        BadValue{"web: 7", "not a mapping"},
        BadValue{"metrics: {cardinality: much}", "low, recommended or full"},
        BadValue{"history: {enabled: yes}", "true or false"},
        BadValue{"history: {commit_bytes: 64MiB, queue_bytes: 1MiB}",
                 "below history.commit_bytes"},
        BadValue{"alerts: {hold: 5s}", "from 30s"},
        BadValue{"benchmarks: {gpt: \"\"}", "benchmarks.gpt must name a run"},
        BadValue{"benchmarks: {gpt: [a]}", "not one value"},
        BadValue{"benchmarks: [a]", "not a mapping"},
        BadValue{"notify: {alertmanager: {urls: [am:9093]}}", "http://"},
        BadValue{"notify: {webhook: {urls: [http://a], bdy: x}}", "body?"},
        BadValue{"[1, 2]", "not a mapping"}, BadValue{"a: {", "not YAML"},
        BadValue{"a: 1\n---\nb: 2", "second document"},
        BadValue{", a: b", "second document"},
        BadValue{"web: &w {}\nlog: *w", "f.yaml:2:6: Aliases"},
        // The other problems of such a file are told as well.
        BadValue{"web: &w {bad: 1}\nlog: *w", "f.yaml:1:10: web.bad"},
        BadValue{"web: &w {bad: *w}", "f.yaml:1:15: Aliases"},
        BadValue{"? [a]\n: b", "not a word"}));

TEST(Config, TellsOfEachUrlAndOfAWebhooksBody) {
  EXPECT_EQ(
      Problems("notify:\n"
               "  alertmanager:\n"
               "    urls:\n"
               "      - http://a b\n"
               "      - https://am:99999\n"
               "      - http://am:9093/x\n"
               "      - am:9093/secret\n"
               "  webhook:\n"
               "    urls: [\"https://u:word@/hook/secret\"]\n"
               "    body: '{\"text\": \"{{nope}}\"'\n"
               "  external_url: http://[::1\n"
               "  runbooks_url: wiki\n"),
      "f.yaml:4:9: notify.alertmanager.urls is 'http://a b'; a URL has no "
      "spaces; write one as %20.\n"
      "f.yaml:5:9: notify.alertmanager.urls is 'https://am:99999'; its port "
      "must be a whole number from 1 to 65535.\n"
      "f.yaml:7:9: notify.alertmanager.urls is 'am:9093/...'; it must begin "
      "with http:// or https://, and name a host.\n"
      "f.yaml:9:12: notify.webhook.urls is 'https:///...'; it has no host.\n"
      "f.yaml:10:11: notify.webhook.body: there is no placeholder {{nope}}; "
      "daemon/notify/README.md lists them; and it is no JSON once its "
      "placeholders are filled in; they belong inside quotes.\n"
      "f.yaml:11:17: notify.external_url is 'http://[::1'; its '[' is never "
      "closed.\n"
      "f.yaml:12:17: notify.runbooks_url is 'wiki'; it must begin with http:// "
      "or https://, and name a host.");
  EXPECT_EQ(Problems("notify: {alertmanager: {urls: [\"http://[::1]:9093\", "
                     "\"https://u:p@am.example/alerts\", "
                     "\"http://am:1?x\"]}}"),
            "");
}

TEST(Config, FlagsSpeakTheWordsOfTheFile) {
  DaemonConfig config = DefaultConfig();
  EXPECT_TRUE(ApplyFlags({"/run/x.sock", "off"}, &config).ok());
  EXPECT_EQ(config.server.socket_path, "/run/x.sock");
  EXPECT_EQ(config.web.listen, "");
  EXPECT_TRUE(ApplyFlags({"", "127.0.0.1:0"}, &config).ok());
  EXPECT_EQ(config.server.socket_path, "/run/x.sock");
  EXPECT_EQ(config.web.listen, "127.0.0.1:0");
  const Status wrong = ApplyFlags({"foo", "bar"}, &config);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error(),
              AllOf(HasSubstr("--socket: ingest.socket must be an absolute"),
                    HasSubstr("--listen: web.listen must be ADDRESS:PORT")));
}

TEST(Config, SomewhereTrainingsMustReport) {
  DaemonConfig config = DefaultConfig();
  const Status deaf = ApplyFlags({"off", ""}, &config);
  ASSERT_FALSE(deaf.ok());
  EXPECT_THAT(deaf.error(), HasSubstr("no training could report"));
  config.server.tcp_address = "127.0.0.1:0";
  config.server.tcp_anonymous = true;
  EXPECT_TRUE(ApplyFlags({"off", "off"}, &config).ok());
}

TEST(Config, AccessNamesUsersAndGroups) {
  const auto read = ParseConfig(
      "access: {admin_groups: [ops], users: [ann], groups: [7, lab]}", "f");
  ASSERT_TRUE(read.ok()) << read.error();
  const AccessOptions& access = read->server.access;
  EXPECT_EQ(access.admin_groups, std::vector<std::string>{"ops"});
  EXPECT_EQ(access.users, std::vector<std::string>{"ann"});
  EXPECT_EQ(access.groups, (std::vector<std::string>{"7", "lab"}));
}

TEST(Config, WhoReadsOnlyHisOwnIsNotShownAllOverHttp) {
  const auto read = ParseConfig("access: {read: owner, admins: [ann, 7]}", "f");
  ASSERT_TRUE(read.ok()) << read.error();
  DaemonConfig config = *read;
  EXPECT_FALSE(config.server.access.read_by_everyone);
  EXPECT_EQ(config.server.access.admins,
            (std::vector<std::string>{"ann", "7"}));
  EXPECT_THAT(ApplyFlags({}, &config).error(), HasSubstr("access.read"));
  EXPECT_TRUE(ApplyFlags({"", "off"}, &config).ok());
  EXPECT_THAT(Problems("access: {read: nobody}"), HasSubstr("access.read"));
}

TEST(Config, HttpBeyondTheLoopbackIsMeantOrProtected) {
  DaemonConfig config = DefaultConfig();
  EXPECT_THAT(ApplyFlags({"", "0.0.0.0:9765"}, &config).error(),
              AllOf(HasSubstr("web.config_file"), HasSubstr("web.insecure")));
  config.web.insecure = true;
  EXPECT_TRUE(ApplyFlags({"", "0.0.0.0:9765"}, &config).ok());
  config.web.config_file = "/no/such/web.yml";
  EXPECT_THAT(ApplyFlags({}, &config).error(), HasSubstr("/no/such/web.yml"));
}

TEST(Config, RulesKnowTheirRanges) {
  const RuleSpec& spec = *FindRule("scale_collapse");
  const auto config = ParseConfig(
      "rules: {scale_collapse: {enabled: false, warning_ratio: 32}}", "f");
  ASSERT_TRUE(config.ok()) << config.error();
  const RuleSettings& rule = config->rules.rules.at("scale_collapse");
  EXPECT_FALSE(rule.enabled);
  ASSERT_EQ(rule.thresholds.size(), spec.thresholds.size());
  EXPECT_EQ(rule.thresholds[0], 32);
  EXPECT_THAT(Problems("rules: {scale_collapse: {warning_ratio: 0}}"),
              HasSubstr("rules.scale_collapse.warning_ratio is '0'"));
  EXPECT_THAT(Problems("rules: {scale_colapse: {enabled: false}}"),
              HasSubstr("did you mean scale_collapse?"));
  EXPECT_THAT(Problems("rules: {scale_collapse: {warning_ratoi: 4}}"),
              HasSubstr("did you mean warning_ratio?"));
}

TEST(ConfigTest, ThresholdsOfOneQuantityKeepTheirOrder) {
  EXPECT_THAT(
      Problems("rules:\n  scale_collapse:\n    warning_ratio: 1000\n"
               "    critical_ratio: 5\n"),
      AllOf(HasSubstr("f.yaml:4:"),
            HasSubstr("rules.scale_collapse.critical_ratio is 5; it must not "
                      "be below warning_ratio, which is 1000.")));
  // Against a default, at the place of what is written.
  EXPECT_THAT(Problems("rules: {gnorm_spike: {warning_nats: 30}}"),
              HasSubstr("rules.gnorm_spike.warning_nats is 30; it must not be "
                        "above critical_nats, which is 20.7."));
  // What clears a fall lies above what raises it.
  EXPECT_THAT(Problems("rules: {grad_vanishing: {clear_ratio: 1e-4}}"),
              HasSubstr("must not be below ratio, which is 0.001."));
  EXPECT_EQ(
      Problems("rules: {gnorm_spike: {warning_nats: 20, critical_nats: 20}}"),
      "");
}

TEST(Config, ThresholdsInSecondsTakeTimes) {
  for (const RuleSpec* spec : AllRules()) {
    for (size_t i = 0; i < spec->thresholds.size(); ++i) {
      const ThresholdSpec& threshold = spec->thresholds[i];
      if (threshold.unit != "s") continue;
      const auto value = static_cast<int64_t>(threshold.max);
      const std::string yaml = "rules: {" + std::string(spec->name) + ": {" +
                               std::string(threshold.name) + ": " +
                               std::to_string(value) + "s}}";
      const auto config = ParseConfig(yaml, "f");
      ASSERT_TRUE(config.ok()) << config.error();
      EXPECT_EQ(config->rules.rules.at(std::string(spec->name)).thresholds[i],
                static_cast<double>(value));
    }
  }
}

TEST(Config, HugeAndDeepTextsAreRefused) {
  EXPECT_THAT(Problems(std::string(2 << 20, '#')), HasSubstr("at most"));
  EXPECT_NE(Problems(std::string(100000, '[')), "");
  EXPECT_NE(Problems("a: &x [*x]"), "");
}

TEST(Config, AMissingFileIsTold) {
  const auto config = LoadConfig("/nonexistent/nanwatch.yaml");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.error(), AllOf(HasSubstr("/nonexistent/nanwatch.yaml"),
                                    HasSubstr("No such file")));
}

}  // namespace
}  // namespace nanwatch
