// judge_table: what the judge is worth, as tables: how like real logs the
// generated runs are, false alarms on healthy ones, troubles found and named,
// and other programs' rules beside ours.
//
//   nanwatch-bench-judge [SEEDS [RUNS [STEPS]]] [--write FILE]
//
// NANWATCH_CORPUS names a folder of logs with known outcomes, which the last
// table then has, too. With --write the tables stand in FILE
// (tests/judge/RESULTS.md), with version and date. What stands there below
// kByHand is kept: people write it.

#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "tests/bench/judge_peers.h"
#include "tests/bench/judge_proof.h"

namespace nanwatch {
namespace {

constexpr std::string_view kByHand =
    "<!-- From here on written by hand; above by nanwatch-bench-judge --write. "
    "-->\n";

struct Size {
  int seeds = 20;
  int runs = 200;
  int64_t steps = 5000;
};

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

std::string Tables(const Size& size, const std::string& corpus) {
  const std::string_view build = EngineBuild();
  const std::string_view engine = EngineVersion();
  return fmt::format(
      "# Results of the judge on generated runs\n\n"
      "Of {}, version {}, engine number {}. `tests/generate` makes runs out of "
      "a seed, in plain C++ that includes\nnothing of the daemon; the engine "
      "hears them with every rule at its default.\n\n"
      "## How like real logs they are\n\n"
      "|ln(next / this)| from one line of a log to the next, at 50, 99 and "
      "99.9 %.\n\n{}\n"
      "## Healthy runs\n\n{}\n"
      "## Troubles\n\n"
      "{} seeds each: found, and after how many steps (the middle of them), by "
      "the size of the effect in multiples of what\nhealthy runs do at 99.9 % "
      "of their steps (units: `tests/generate/trouble.cc`). Last: in how many "
      "of those from 5 on the\ncause stands first in the diagnosis.\n\n{}\n"
      "## Other programs' rules\n\n"
      "At their defaults, in our own words (`tests/judge/peers.cc`). Found: "
      "alarmed within 100 steps.\n\n{}",
      Today(), build.substr(0, build.find('+')),
      engine.substr(0, engine.find('.')), TextureTable(),
      HealthyText(size.runs, size.steps), size.seeds, TroubleTable(size.seeds),
      PeersTable(size.seeds, size.runs, size.steps, corpus));
}

// Returns what people wrote into the file, with its marker; the marker alone
// where there is nothing yet.
std::string ByHand(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const size_t at = text.str().find(kByHand);
  return at == std::string::npos ? std::string(kByHand) : text.str().substr(at);
}

int Run(int argc, char** argv) {
  Size size;
  std::string path;
  CLI::App app("Tables of what the judge does on generated runs.");
  app.add_option("seeds", size.seeds, "of each trouble and size")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("runs", size.runs, "healthy ones")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("steps", size.steps, "of a healthy run")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--write", path, "Markdown file to put the tables into");
  CLI11_PARSE(app, argc, argv);
  const char* const corpus = std::getenv("NANWATCH_CORPUS");
  const std::string tables = Tables(size, corpus == nullptr ? "" : corpus);
  if (path.empty()) {
    std::fputs(tables.c_str(), stdout);
    return 0;
  }
  const std::string text = tables + '\n' + ByHand(path);
  std::ofstream file(path, std::ios::trunc);
  file << text;
  if (file.flush()) return 0;
  std::fprintf(stderr, "nanwatch-bench-judge: cannot write %s\n", path.c_str());
  return 1;
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) { return nanwatch::Run(argc, argv); }
