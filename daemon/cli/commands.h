// The commands of `nanwatch`, a file each. A command returns the exit status:
// 0 nothing above info, 1 warning, 2 critical, 3 it could not be done, 4 usage.

#ifndef NANWATCH_CLI_COMMANDS_H_
#define NANWATCH_CLI_COMMANDS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/record_judge.h"
#include "base/time.h"
#include "cli/style.h"
#include "logs/format.h"
#include "model/event.h"
#include "rpc/query_client.h"

namespace nanwatch {

inline constexpr int kExitFailed = 3;
inline constexpr int kExitUsage = 4;

struct Command;      // cli/option.h
struct ComparedRun;  // compare/compared_run.h

struct RunChoice {
  std::string run_id;
  std::optional<int32_t> attempt;  // absent: the newest
};

enum class ShowForm { kReport, kAll, kJson };
// Of the report: what ended more than a day ago is left out.
int ListRuns(QueryClient& client, const Style& style, ShowForm form);
int ShowRun(QueryClient& client, const RunChoice& run, const Style& style,
            ShowForm form);
v1::GetLayersRequest LayersOf(const RunChoice& run, int32_t rank);
enum class ScalesForm { kTable, kYaml, kJson };
int ShowLayerScales(QueryClient& client, const RunChoice& run,
                    const Style& style, ScalesForm form);
int ShowLayers(QueryClient& client, const RunChoice& run, int32_t rank,
               const Style& style, bool json);

enum class DiagnosisForm { kReport, kAll, kJson, kBrief };
int DiagnoseRun(QueryClient& client, const RunChoice& run, const Style& style,
                DiagnosisForm form);

// A live view until the run ends or the user presses ^C. `once`: one picture.
int WatchRun(QueryClient& client, const RunChoice& run, const Style& style,
             bool once);

struct AnnotateOptions {
  RunChoice run;
  v1::AnnotationKind kind = v1::ANNOTATION_KIND_UNSPECIFIED;
  // Hexadecimal, as reports show it; absent: the run.
  std::optional<std::string> incident;
  std::optional<std::string> rule;  // name or number; absent: all
  int64_t for_seconds = 0;
  std::string by;  // empty: the user's name
  std::string reason;
};
int AnnotateRun(QueryClient& client, const AnnotateOptions& options);

struct ExportOptions {
  RunChoice run;
  std::string output;
  bool hash_names = false;
};
int ExportRun(QueryClient& client, const ExportOptions& options);

// Judges a history file or an export again, with the rules recorded in it, and
// compares with the incidents that were found then. 0: the same; 1: differences
// (printed).
int Replay(const std::string& path, const Style& style);

// 0: fine. 2: errors, printed with line numbers; as `nanwatchd --check-config`.
inline constexpr int kExitBadConfig = 2;
int CheckConfig(const std::string& path);

struct ExplainOptions {
  std::string rule;  // name or number; empty: all, a line each
  bool markdown = false;
  std::string pages;  // a folder for the pages of all rules; empty: none
};
// The page of a rule (cli/rule_page.h).
int ExplainRules(const ExplainOptions& options, const Style& style);

struct CheckOptions {
  const LogFormat* format = nullptr;  // null: recognise it
  ColumnMap columns;
  bool json = false;
  bool all = false;  // more than a screen of each log
  // What the losses are held against; null: nothing.
  std::shared_ptr<const Benchmark> benchmark;
  // What the overflows of dumps are held against; null: nothing.
  std::shared_ptr<const ComparedRun> benchmark_dump;
  RulesInForce rules = RulesOfLogs();
  // What a log becomes for the engine, event for event; may be empty.
  std::function<void(Time now, const Event& event)> on_event;
};
// Judges finished logs of other programs ("-": standard input). The worst of
// their exit statuses; 3 when in none of them was anything to judge.
int CheckLogs(const std::vector<std::string>& paths,
              const CheckOptions& options, const Style& style);
int ListFormats();
struct TailOptions {
  const LogFormat* format = nullptr;  // null: recognise it
  ColumnMap columns;
  bool tee = false;
  bool new_only = false;  // what stands in the files already is passed over
  bool json = false;
  std::string run_id;  // for the daemon; empty: nanwatch.h's, else made up
  std::optional<int32_t> rank;
  bool daemon = true;   // feed the one that runs
  std::string address;  // of the daemon; empty: the usual places
  Duration idle_flush = std::chrono::seconds(5);
};
// Follows growing logs of one run, a rank each ("-": standard input, until it
// ends), until a signal ends it; then as CheckLogs.
int TailLogs(const std::vector<std::string>& paths, const TailOptions& options);
struct RunOptions {
  const LogFormat* format = nullptr;  // null: recognise it
  ColumnMap columns;
  std::vector<std::string> command;  // not empty
  std::string run_id;   // empty: the launcher's, else one is made up
  bool daemon = true;   // feed the one that runs, else start one
  std::string address;  // of the daemon; empty: the usual places
};
// Runs a training and judges it: what it prints, and what its hooks tell. Its
// output, signals and exit status are passed on; 126, 127: it could not be
// started.
int RunTraining(const RunOptions& options);

// What the command line knows of them. `address` is the daemon's as it was
// given, empty if it was not; it is read when a command runs.
std::vector<Command> DaemonCommands(const std::string* address);
std::vector<Command> LogCommands(const std::string* address);
std::vector<Command> RecordingCommands(const std::string* address);
Command CompareCommand(const std::string* address);
Command RepeatCommand(const std::string* address);

// Prints `message` to standard error as the command's, and returns `status`.
int Fail(const std::string& message, int status = kExitFailed);
// Exit status of a verdict.
int ExitStatus(v1::Severity severity);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_COMMANDS_H_
