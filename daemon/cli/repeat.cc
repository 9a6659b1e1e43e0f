#include "cli/repeat.h"

#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/compared_side.h"
#include "cli/own_daemon.h"
#include "compare/comparison.h"
#include "compare/unsteady_ops.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

constexpr int kNotFound = 127;  // as the shells have it

// What of a program differed, and in how many repeats.
struct Seen {
  UnsteadyOp op;
  int64_t repeats = 0;
};

// Runs the program with these variables; its output goes where ours goes, but
// for what it prints, which goes to standard error. Its exit status.
int RunOnce(const std::vector<std::string>& command, const std::string& address,
            const std::string& run) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setenv("NANWATCH_ADDRESS", address.c_str(), 1);
    setenv("NANWATCH_RUN_ID", run.c_str(), 1);
    setenv("NANWATCH_LEVEL", "compare", 1);
    execvp(words[0], words.data());
    _exit(kNotFound);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Add(const UnsteadyOps& found, std::vector<Seen>* all) {
  for (const UnsteadyOp& op : found.ops) {
    const auto at = std::find_if(all->begin(), all->end(), [&](const Seen& s) {
      return s.op.op == op.op && s.op.phase == op.phase &&
             s.op.before == op.before;
    });
    if (at == all->end()) {
      all->push_back({op, 1});
      continue;
    }
    ++at->repeats;
    if (op.distance) {
      at->op.distance = std::max(at->op.distance.value_or(0), *op.distance);
    }
  }
}

constexpr const char* kWhere[kPhases] = {"the weights", "the data",
                                         "the forward pass", "backward",
                                         "the weight's gradient"};

std::string Line(const Seen& seen, int64_t repeats) {
  const UnsteadyOp& op = seen.op;
  const std::string what =
      op.phase == Phase::kBatch
          ? std::string("the data")
          : fmt::format("{}{} ({}), {}", op.before ? "a function before " : "",
                        op.op, op.type, kWhere[static_cast<int>(op.phase)]);
  return fmt::format(
      "{}: in {} of {} repeats{}.", what, seen.repeats, repeats,
      op.distance ? fmt::format(", by {:.2g} of its norm at most", *op.distance)
                  : std::string());
}

struct Repeats {
  std::vector<Seen> seen;
  std::optional<int64_t> step;  // the first at which a repeat differs
  size_t tensors = 0;           // compared
  bool losses_differ = false;
  bool differs() const { return step || losses_differ; }
};

std::string Text(const Repeats& r, int64_t repeats, const Style& style) {
  std::string out =
      style.Bold(r.differs() ? "NOT DETERMINISTIC" : "DETERMINISTIC") + "\n";
  const auto line = [&](const std::string& text) {
    out += Wrapped(text, 2, style.columns);
  };
  if (r.step) {
    line(fmt::format("Repeats are not the same from step {} on:", *r.step));
    for (const Seen& seen : r.seen) line(Line(seen, repeats));
    if (r.seen.empty()) {
      line("Of what differs first nothing is known: it is in no module.");
    }
  } else if (r.losses_differ) {
    line("The losses of repeats differ.");
  } else {
    line(fmt::format("{} repeats are equal to the bit.", repeats));
  }
  line(r.tensors > 0
           ? fmt::format("{} tensors were compared.", Grouped(r.tensors))
           : std::string("No tensors were recorded, the losses alone were "
                         "compared: does the program call "
                         "nanwatch.torch.watch, with the C library?"));
  return out;
}

std::string Json(const Repeats& r, int64_t repeats) {
  nlohmann::ordered_json json;
  json["deterministic"] = !r.differs();
  json["repeats"] = repeats;
  json["tensors"] = r.tensors;
  if (r.step) json["first_step"] = *r.step;
  json["unsteady"] = nlohmann::ordered_json::array();
  for (const Seen& seen : r.seen) {
    nlohmann::ordered_json one{
        {"op", Clean(seen.op.op)},
        {"type", Clean(seen.op.type)},
        {"phase", kWhere[static_cast<int>(seen.op.phase)]},
        {"function_before", seen.op.before},
        {"repeats", seen.repeats}};
    if (seen.op.distance) one["distance"] = *seen.op.distance;
    json["unsteady"].push_back(one);
  }
  return json.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

void Take(const ComparedRun& first, const ComparedRun& other, Repeats* r) {
  const UnsteadyOps found = FindUnsteadyOps(first, other);
  const Comparison comparison = Compare(first, other);
  r->tensors += comparison.tensors;
  r->losses_differ = r->losses_differ || comparison.loss.first_step ||
                     comparison.batches.first_step;
  if (found.step) r->step = std::min(r->step.value_or(INT64_MAX), *found.step);
  Add(found, &r->seen);
}

}  // namespace

int RepeatProgram(const RepeatOptions& options, const Style& style) {
  OwnDaemon own;
  std::string address = options.address;
  if (address.empty() && std::getenv("NANWATCH_ADDRESS") != nullptr) {
    address = FindDaemon();
  }
  if (address.empty()) {
    const Result<std::string> found = own.Ensure();
    if (!found.ok()) return Fail(found.error());
    address = *found;
  }
  const std::string name = fmt::format("repeat-{}-{}", std::time(nullptr),
                                       static_cast<int>(getpid()));
  std::optional<ComparedSide> first;
  Repeats repeats;
  for (int64_t i = 0; i < options.times; ++i) {
    const std::string run = fmt::format("{}-{}", name, i);
    const int status = RunOnce(options.command, address, run);
    if (status != 0) {
      return Fail(fmt::format("{} ended with status {}: nothing is compared",
                              Clean(options.command[0]), status));
    }
    Result<ComparedSide> side = ReadSide(run, address, {});
    if (!side.ok()) {
      return Fail(side.error() +
                  ": the program told the daemon nothing; it is to call "
                  "nanwatch.torch.watch or nanwatch.init");
    }
    if (first) {
      Take(first->run, side->run, &repeats);
    } else {
      first = std::move(*side);
    }
  }
  const int64_t others = options.times - 1;
  const std::string text =
      options.json ? Json(repeats, others) : Text(repeats, others, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return repeats.differs() ? 2 : 0;
}

}  // namespace nanwatch
