#include "cli/bench.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdio>

#include "cli/compared_side.h"
#include "cli/log_flags.h"
#include "cli/option.h"
#include "cli/run_argument.h"
#include "compare/benchmark_of.h"
#include "json/message.h"

namespace nanwatch {
namespace {

struct BenchArguments : RunArgument, LogFlags {
  std::string reference;
  bool json = false;
};

v1::SetBenchmarkRequest RequestFor(const BenchArguments& arguments) {
  v1::SetBenchmarkRequest request;
  request.set_run_id(arguments.run_id);
  if (const auto attempt = arguments.Attempt()) request.set_attempt(*attempt);
  return request;
}

int Set(const v1::SetBenchmarkRequest& request, const std::string& address) {
  QueryClient client(address);
  const Result<std::string> done = client.SetBenchmark(request);
  if (!done.ok()) return Fail(done.error());
  std::printf("%s\n", Clean(*done).c_str());
  return 0;
}

int SetTo(const BenchArguments& arguments, const std::string& address) {
  CheckOptions log;
  const Status resolved = arguments.Resolve(&log);
  if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
  const auto benchmark = ReadBenchmark(arguments.reference, address, log);
  if (!benchmark.ok()) return Fail(benchmark.error());
  v1::SetBenchmarkRequest request = RequestFor(arguments);
  request.set_reference((*benchmark)->reference);
  for (const BenchmarkPoint& point : (*benchmark)->points) {
    request.add_steps(point.step);
    request.add_losses(point.loss);
  }
  return Set(request, address);
}

std::string Apart(double loss, double of) {
  if (of <= 0) return "";
  const double share = loss / of - 1;
  return fmt::format(" ({:.3g} % {})", std::fabs(share) * 100,
                     share < 0 ? "below" : "above");
}

void PrintBenchmark(const v1::RunDetail& run) {
  const v1::BenchmarkSummary& b = run.benchmark();
  std::printf(
      "%s attempt %d is compared with %s: %s losses of steps %s to %s\n",
      Clean(run.summary().run_id()).c_str(), run.summary().attempt(),
      Clean(b.reference()).c_str(), Grouped(b.points()).c_str(),
      Grouped(b.first_step()).c_str(), Grouped(b.last_step()).c_str());
  if (b.not_finite() > 0) {
    std::printf("  %s of them are no numbers: nothing is compared there\n",
                Grouped(b.not_finite()).c_str());
  }
  if (b.pairs() == 0) {
    std::printf("  no step of the run has had a loss where it has one\n");
    return;
  }
  std::printf("  %s losses were compared, the newest is of step %s; %s\n",
              Grouped(b.pairs()).c_str(), Grouped(b.pair_step()).c_str(),
              !b.has_same_batches() ? "whether both have the same batches does "
                                      "not show yet"
              : b.same_batches()    ? "both have the same batches"
                                    : "they have other batches");
  std::printf("  the mean of the newest ones is %s, the benchmark's %s%s\n",
              fmt::format("{:.6g}", b.loss()).c_str(),
              fmt::format("{:.6g}", b.benchmark_loss()).c_str(),
              Apart(b.loss(), b.benchmark_loss()).c_str());
}

int Show(const BenchArguments& arguments, const std::string& address) {
  QueryClient client(address);
  const auto run = client.GetRun(arguments.run_id, arguments.Attempt());
  if (!run.ok()) return Fail(run.error());
  if (arguments.json) {
    const std::string text =
        run->has_benchmark() ? RunJson(run->benchmark()) : "null\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (!run->has_benchmark()) {
    std::printf("%s is compared with no other run\n",
                Clean(arguments.run_id).c_str());
    return 0;
  }
  PrintBenchmark(*run);
  return 0;
}

}  // namespace

Result<std::shared_ptr<const Benchmark>> ReadBenchmark(
    const std::string& text, const std::string& address,
    const CheckOptions& log) {
  const Result<ComparedSide> side = ReadSide(text, address, log);
  if (!side.ok()) return Error{side.error()};
  return BenchmarkOf(side->run, Clean(text));
}

Command BenchCommand(const std::string* address) {
  const auto a = std::make_shared<BenchArguments>();
  const std::vector<Option> run = OptionsOf(a.get());
  return {
      .name = "bench",
      .help =
          "the run that another one's losses are held against while it runs",
      .verbs = {
          {.name = "set",
           .help = "from here on hold a run's losses against those of another",
           .options = Joined(
               run,
               {{.names = "--to",
                 .target = &a->reference,
                 .help = "the other one: a run that the daemon knows (RUN, "
                         "RUN@ATTEMPT), a history or an export (FILE, "
                         "FILE:RUN@ATTEMPT), or a training log",
                 .required = true}},
               a->OptionsOfALog()),
           .run = [=] { return SetTo(*a, AskedDaemon(*address)); }},
          {.name = "clear",
           .help = "hold them against none any more",
           .options = run,
           .run = [=] { return Set(RequestFor(*a), AskedDaemon(*address)); }},
          {.name = "show",
           .help = "what a run's losses are held against, and how they compare",
           .options = Joined(run, {{"--json", &a->json, "as JSON"}}),
           .run = [=] { return Show(*a, AskedDaemon(*address)); }}}};
}

}  // namespace nanwatch
