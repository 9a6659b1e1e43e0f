// The commands that ask the daemon about a run, as the command line knows them.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/number_checks.h"
#include "cli/option.h"
#include "cli/run_argument.h"
#include "cli/style.h"
#include "cli/text_checks.h"

namespace nanwatch {
namespace {

// What these commands have in common.
struct DetailArguments : RunArgument {
  bool json = false;
};

RunChoice Chosen(const RunArgument& argument) {
  return {argument.run_id, argument.Attempt()};
}

QueryClient Connect(const std::string& address) {
  return QueryClient(AskedDaemon(address));
}

template <typename Arguments>
ShowForm FormOf(const Arguments& a) {
  return a.json ? ShowForm::kJson : a.all ? ShowForm::kAll : ShowForm::kReport;
}

Command RunsCommand(const std::string* address) {
  struct Arguments {
    bool json = false;
    bool all = false;
  };
  const auto a = std::make_shared<Arguments>();
  return {.name = "runs",
          .help = "the runs that go on, and those that ended within a day",
          .options = {{"--json", &a->json, "all of them, as JSON"},
                      {.names = "--all",
                       .target = &a->all,
                       .help = "older ones too",
                       .excludes = "--json"}},
          .run = [=] {
            QueryClient client = Connect(*address);
            return ListRuns(client, Style::OfTerminal(), FormOf(*a));
          }};
}

Command ShowCommand(const std::string* address) {
  struct Arguments : DetailArguments {
    bool all = false;
  };
  const auto a = std::make_shared<Arguments>();
  return {.name = "show",
          .help = "a run: numbers, ranks, ops",
          .options = Joined(OptionsOf(a.get()),
                            {{"--json", &a->json, "as JSON"},
                             {.names = "--all",
                              .target = &a->all,
                              .help = "all ranks and ops, not one screen",
                              .excludes = "--json"}}),
          .run = [=] {
            QueryClient client = Connect(*address);
            return ShowRun(client, Chosen(*a), Style::OfTerminal(), FormOf(*a));
          }};
}

Command LayersCommand(const std::string* address) {
  struct Arguments : DetailArguments {
    int32_t rank = 0;
    bool scales = false;
    bool yaml = false;
  };
  const auto a = std::make_shared<Arguments>();
  return {
      .name = "layers",
      .help =
          "the newest report of each parameter's gradient, of one rank; "
          "or the loss scales that suit each layer",
      .options = Joined(OptionsOf(a.get()), {{.names = "--rank",
                                              .target = &a->rank,
                                              .help = "default: 0",
                                              .check = WholeNumber()},
                                             {"--json", &a->json, "as JSON"},
                                             {"--scales", &a->scales,
                                              "loss scales that suit, of all "
                                              "ranks: needs, bears, has, "
                                              "loses; and the fewest that do"},
                                             {.names = "--yaml",
                                              .target = &a->yaml,
                                              .help = "these scales, for a "
                                                      "program",
                                              .excludes = "--json"}}),
      .run = [=] {
        QueryClient client = Connect(*address);
        if (a->scales || a->yaml) {
          const ScalesForm form = a->json   ? ScalesForm::kJson
                                  : a->yaml ? ScalesForm::kYaml
                                            : ScalesForm::kTable;
          return ShowLayerScales(client, Chosen(*a), Style::OfTerminal(), form);
        }
        return ShowLayers(client, Chosen(*a), a->rank, Style::OfTerminal(),
                          a->json);
      }};
}

Command DiagnoseCommand(const std::string* address) {
  struct Arguments : DetailArguments {
    bool brief = false;
    bool all = false;
  };
  const auto a = std::make_shared<Arguments>();
  return {.name = "diagnose",
          .help =
              "what is wrong with a run, why, and what to do; exit status "
              "0 nothing above info, 1 warning, 2 critical, 3 no answer, "
              "4 usage",
          .options =
              Joined(OptionsOf(a.get()),
                     {{"--json", &a->json, "as JSON"},
                      {.names = "--brief",
                       .target = &a->brief,
                       .help = "one line for scripts: worst severity, cause, "
                               "its grade",
                       .excludes = "--json"},
                      {.names = "--all",
                       .target = &a->all,
                       .help = "every finding and cause, not one screen",
                       .excludes = "--json"}}),
          .run = [=] {
            const DiagnosisForm form = a->json    ? DiagnosisForm::kJson
                                       : a->brief ? DiagnosisForm::kBrief
                                       : a->all   ? DiagnosisForm::kAll
                                                  : DiagnosisForm::kReport;
            QueryClient client = Connect(*address);
            return DiagnoseRun(client, Chosen(*a), Style::OfTerminal(), form);
          }};
}

Command WatchCommand(const std::string* address) {
  struct Arguments : DetailArguments {
    bool once = false;
  };
  const auto a = std::make_shared<Arguments>();
  return {.name = "watch",
          .help = "a live view of a run",
          .options = Joined(
              OptionsOf(a.get()),
              {{"--once", &a->once, "one picture instead of a live view"}}),
          .run = [=] {
            QueryClient client = Connect(*address);
            return WatchRun(client, Chosen(*a), Style::OfTerminal(), a->once);
          }};
}

struct AnnotateArguments : DetailArguments {
  AnnotateOptions options;
};

// `more` is what only this kind of annotation takes.
Command AnnotationCommand(const std::string* address, v1::AnnotationKind kind,
                          const std::shared_ptr<AnnotateArguments>& a,
                          std::string name, std::string help,
                          const std::vector<Option>& more = {}) {
  return {.name = std::move(name),
          .help = std::move(help),
          .options = Joined(OptionsOf(a.get()),
                            {{.names = "--by",
                              .target = &a->options.by,
                              .help = "who says so; default: the user",
                              .check = Utf8Text()},
                             {.names = "--reason",
                              .target = &a->options.reason,
                              .help = "why, in words",
                              .required = kind == v1::ANNOTATION_KIND_STOP,
                              .check = Utf8Text()}},
                            more),
          .run = [=] {
            a->options.kind = kind;
            a->options.run = Chosen(*a);
            QueryClient client = Connect(*address);
            return AnnotateRun(client, a->options);
          }};
}

Command MuteCommand(const std::string* address) {
  const auto a = std::make_shared<AnnotateArguments>();
  AnnotateOptions& options = a->options;
  return AnnotationCommand(
      address, v1::ANNOTATION_KIND_MUTE, a, "mute",
      "no notices of a run, a rule or an incident",
      {{"--rule", &options.rule, "only this rule's, by name or number"},
       {"--incident", &options.incident, "only this incident's"},
       {.names = "--for",
        .target = &options.for_seconds,
        .help = "for so long, as 90s, 30m, 2h or 1d; default: ever",
        .check = Span()}});
}

Command UnmuteCommand(const std::string* address) {
  const auto a = std::make_shared<AnnotateArguments>();
  AnnotateOptions& options = a->options;
  return AnnotationCommand(
      address, v1::ANNOTATION_KIND_UNMUTE, a, "unmute", "notices again",
      {{"--rule", &options.rule, "only this rule's, by name or number"},
       {"--incident", &options.incident, "only this incident's"}});
}

Command AcknowledgeCommand(const std::string* address) {
  const auto a = std::make_shared<AnnotateArguments>();
  return AnnotationCommand(
      address, v1::ANNOTATION_KIND_ACKNOWLEDGE, a, "ack",
      "somebody looks after it",
      {{"--incident", &a->options.incident, "only this incident"}});
}

Command StopCommand(const std::string* address) {
  return AnnotationCommand(address, v1::ANNOTATION_KIND_STOP,
                           std::make_shared<AnnotateArguments>(), "stop",
                           "ask the training to stop; it decides itself");
}

Command ExportCommand(const std::string* address) {
  struct Arguments : DetailArguments {
    ExportOptions options;
  };
  const auto a = std::make_shared<Arguments>();
  return {
      .name = "export",
      .help = "a run into one file, to send or to replay",
      .options = Joined(OptionsOf(a.get()),
                        {{.names = "--output,-o",
                          .target = &a->options.output,
                          .help = "the file",
                          .required = true},
                         {"--hash-names", &a->options.hash_names,
                          "run, job, hosts, devices, ops, settings and what "
                          "people wrote hashed; numbers and kinds stay"}}),
      .run = [=] {
        a->options.run = Chosen(*a);
        QueryClient client = Connect(*address);
        return ExportRun(client, a->options);
      }};
}

}  // namespace

std::vector<Command> DaemonCommands(const std::string* address) {
  return {RunsCommand(address),   ShowCommand(address),
          LayersCommand(address), DiagnoseCommand(address),
          WatchCommand(address),  MuteCommand(address),
          UnmuteCommand(address), AcknowledgeCommand(address),
          StopCommand(address),   ExportCommand(address)};
}

}  // namespace nanwatch
