// nanwatch: the command. One subcommand a verb; each in a file of its own.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/daemon.h"
#include "cli/commands.h"
#include "cli/number_checks.h"
#include "cli/style.h"
#include "cli/text_checks.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

struct Shared {
  std::string address;
  bool json = false;
  bool brief = false;
  bool once = false;
  RunChoice run;
  int attempt = -1;
  int rank = 0;
};

// What the chosen subcommand does; set by its callback.
using Action = std::function<int()>;

RunChoice Chosen(const Shared& shared) {
  RunChoice run = shared.run;
  if (shared.attempt >= 0) run.attempt = shared.attempt;
  return run;
}

QueryClient Connect(const Shared& shared) {
  return QueryClient(shared.address.empty() ? FindDaemon() : shared.address);
}

std::string Version() {  // "nanwatch/0.1.0"
  const std::string_view daemon = DaemonVersion();
  return "nanwatch" + std::string(daemon.substr(daemon.find('/')));
}

CLI::App* Verb(CLI::App& app, Shared* shared, const std::string& name,
               const std::string& help) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("run", shared->run.run_id, "run id")
      ->required()
      ->check(RunName());
  verb->add_option("--attempt", shared->attempt, "default: the newest")
      ->check(WholeNumber());
  return verb;
}

void AddReading(CLI::App& app, Shared* shared, Action* action) {
  CLI::App* runs = app.add_subcommand("runs", "the runs that are known");
  runs->add_flag("--json", shared->json, "as JSON");
  runs->callback([=] {
    *action = [=] {
      QueryClient client = Connect(*shared);
      return ListRuns(client, Style::OfTerminal(), shared->json);
    };
  });
  CLI::App* show = Verb(app, shared, "show", "a run: numbers, ranks, ops");
  show->add_flag("--json", shared->json, "as JSON");
  show->callback([=] {
    *action = [=] {
      QueryClient client = Connect(*shared);
      return ShowRun(client, Chosen(*shared), Style::OfTerminal(),
                     shared->json);
    };
  });
  CLI::App* layers = Verb(
      app, shared, "layers",
      "the newest that was told of the gradient of each parameter of a rank");
  layers->add_option("--rank", shared->rank, "default: 0")
      ->check(WholeNumber());
  layers->add_flag("--json", shared->json, "as JSON");
  layers->callback([=] {
    *action = [=] {
      QueryClient client = Connect(*shared);
      return ShowLayers(client, Chosen(*shared), shared->rank,
                        Style::OfTerminal(), shared->json);
    };
  });
}

void AddDiagnose(CLI::App& app, Shared* shared, Action* action) {
  CLI::App* diagnose =
      Verb(app, shared, "diagnose",
           "what is wrong with a run, why, and what to do; exit status 0 "
           "nothing above info, 1 warning, 2 critical, 3 no answer, 4 usage");
  CLI::Option* json = diagnose->add_flag("--json", shared->json, "as JSON");
  diagnose
      ->add_flag("--brief", shared->brief,
                 "one line for scripts: worst severity, cause, its grade")
      ->excludes(json);
  diagnose->callback([=] {
    const DiagnosisForm form = shared->json    ? DiagnosisForm::kJson
                               : shared->brief ? DiagnosisForm::kBrief
                                               : DiagnosisForm::kReport;
    *action = [=] {
      QueryClient client = Connect(*shared);
      return DiagnoseRun(client, Chosen(*shared), Style::OfTerminal(), form);
    };
  });
}

void AddWatch(CLI::App& app, Shared* shared, Action* action) {
  CLI::App* watch = Verb(app, shared, "watch", "a live view of a run");
  watch->add_flag("--once", shared->once, "one picture instead of a live view");
  watch->callback([=] {
    *action = [=] {
      QueryClient client = Connect(*shared);
      return WatchRun(client, Chosen(*shared), Style::OfTerminal(),
                      shared->once);
    };
  });
}

CLI::App* AddAnnotation(CLI::App& app, Shared* shared, Action* action,
                        AnnotateOptions* options, v1::AnnotationKind kind,
                        const std::string& name, const std::string& help) {
  CLI::App* verb = Verb(app, shared, name, help);
  verb->add_option("--by", options->by, "who says so; default: the user")
      ->check(Utf8Text());
  verb->add_option("--reason", options->reason, "why, in words")
      ->check(Utf8Text());
  verb->callback([=] {
    options->kind = kind;
    *action = [=] {
      options->run = Chosen(*shared);
      QueryClient client = Connect(*shared);
      return AnnotateRun(client, *options);
    };
  });
  return verb;
}

// The part of a run that a mute is of.
void AddPart(CLI::App* verb, AnnotateOptions* options) {
  verb->add_option("--rule", options->rule,
                   "only this rule's, by name or number");
  verb->add_option("--incident", options->incident, "only this incident's");
}

void AddAnnotations(CLI::App& app, Shared* shared, Action* action,
                    AnnotateOptions* options) {
  CLI::App* mute =
      AddAnnotation(app, shared, action, options, v1::ANNOTATION_KIND_MUTE,
                    "mute", "no notices of a run, a rule or an incident");
  AddPart(mute, options);
  mute->add_option("--for", options->for_seconds,
                   "for so long, as 90s, 30m, 2h or 1d; default: ever")
      ->transform(Span());
  AddPart(AddAnnotation(app, shared, action, options,
                        v1::ANNOTATION_KIND_UNMUTE, "unmute", "notices again"),
          options);
  AddAnnotation(app, shared, action, options, v1::ANNOTATION_KIND_ACKNOWLEDGE,
                "ack", "somebody looks after it")
      ->add_option("--incident", options->incident, "only this incident");
  AddAnnotation(app, shared, action, options, v1::ANNOTATION_KIND_STOP, "stop",
                "ask the training to stop; it decides itself")
      ->get_option("--reason")
      ->required();
}

void AddFiles(CLI::App& app, Shared* shared, Action* action, ExportOptions* out,
              std::string* path) {
  CLI::App* exporting =
      Verb(app, shared, "export", "a run into one file, to send or to replay");
  exporting->add_option("--output,-o", out->output, "the file")->required();
  exporting->add_flag("--hash-names", out->hash_names,
                      "run, job, hosts, devices, ops, settings and what people "
                      "wrote hashed; numbers and kinds stay");
  exporting->callback([=] {
    *action = [=] {
      out->run = Chosen(*shared);
      QueryClient client = Connect(*shared);
      return ExportRun(client, *out);
    };
  });
  CLI::App* replay = app.add_subcommand(
      "replay", "judge a history file or an export again, and compare");
  replay->add_option("file", *path)->required()->check(CLI::ExistingFile);
  replay->callback(
      [=] { *action = [=] { return Replay(*path, Style::OfTerminal()); }; });
  CLI::App* check = app.add_subcommand(
      "check-config",
      "what is wrong with a configuration, all at once; exit status 0 nothing, "
      "2 something or no such file, as of nanwatchd --check-config");
  check->add_option("file", *path)->required();
  check->callback([=] { *action = [=] { return CheckConfig(*path); }; });
}

void AddExplain(CLI::App& app, Action* action, ExplainOptions* options) {
  CLI::App* explain = app.add_subcommand(
      "explain",
      "a rule's page: what it means, when it fires and clears, its thresholds "
      "and their sources, what people do about it; without a rule, all of "
      "them in a line each");
  explain->add_option("rule", options->rule, "its name or number");
  explain->add_flag("--markdown", options->markdown, "as Markdown");
  explain->add_option("--pages", options->pages,
                      "write the pages of all rules into this folder, as "
                      "Markdown");
  explain->callback([=] {
    *action = [=] { return ExplainRules(*options, Style::OfTerminal()); };
  });
}

// CLI11 says that a command is missing, and not what stood in its place.
int NoCommand(const CLI::App& app, const CLI::RequiredError& error) {
  const std::vector<std::string> left = app.remaining();
  if (!app.get_subcommands().empty()) {
    app.exit(error);
    return kExitUsage;
  }
  const auto word = std::find_if(left.begin(), left.end(), [](const auto& one) {
    return one.rfind('-', 0) != 0;
  });
  const std::string what =
      word != left.end() ? "there is no command " + Clean(*word)
      : left.empty()     ? "name a command"
                         : "there is no option " + Clean(left.front());
  return Fail(what + "; `nanwatch --help` lists them", kExitUsage);
}

int Main(int argc, char** argv) {
  Shared shared;
  Action action;
  AnnotateOptions annotate;
  ExportOptions exporting;
  std::string path;
  ExplainOptions explain;
  CLI::App app("nanwatch shows what nanwatchd finds in training runs.",
               "nanwatch");
  app.set_version_flag("--version", Version());
  app.add_option("--address", shared.address,
                 "the daemon: /path, unix:/path or host:port; default: "
                 "NANWATCH_ADDRESS, else the usual sockets")
      ->check(DaemonPlace());
  app.require_subcommand(1);
  AddReading(app, &shared, &action);
  AddDiagnose(app, &shared, &action);
  AddWatch(app, &shared, &action);
  AddAnnotations(app, &shared, &action, &annotate);
  AddFiles(app, &shared, &action, &exporting, &path);
  AddExplain(app, &action, &explain);
  AddLogCommands(app, &action);
  AddRecordingCommands(app, &shared.address, &action);
  app.add_subcommand("version", "print the version")->callback([&] {
    action = [] {
      std::puts(Version().c_str());
      return 0;
    };
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    return NoCommand(app, error);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  shared.address = DaemonAddress(shared.address);
  return action();
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  const int status = nanwatch::Main(argc, argv);
  // What was not written was not said: a full disk is no good answer.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "nanwatch: the output could not be written: %s\n",
               std::strerror(errno));
  return status == 0 ? nanwatch::kExitFailed : status;
}
