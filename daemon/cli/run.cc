// nanwatch run: a training with everything around it: a daemon, the judge of
// what it prints, the environment of its hooks, and the verdict.

#include <poll.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/announced.h"
#include "cli/commands.h"
#include "cli/hook_watch.h"
#include "cli/judge_thread.h"
#include "cli/launched.h"
#include "cli/own_daemon.h"
#include "cli/tail_feed.h"
#include "cli/tail_judge.h"
#include "cli/tail_voice.h"
#include "cli/tee_out.h"
#include "config/addresses.h"

namespace nanwatch {
namespace {

// As env(1) and the shells have it.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr size_t kPiece = 64 * 1024;
// What others still write to the program's output when it is gone is heard for
// so long.
constexpr std::chrono::seconds kAfterwards(2);

// Passes one output of the program on, byte by byte, and hands its lines to
// the judge: whole, since the other output's come between.
class Passing {
 public:
  // `from` is closed. `stop`: readable when no more is to be waited for.
  Passing(int from, int to, int stop, JudgeThread* judge, TailVoice* voice)
      : from_(from),
        stop_(stop),
        tee_(to),
        judge_(judge),
        voice_(voice),
        thread_([this] { Run(); }) {}
  ~Passing() { thread_.join(); }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

  bool ended() const { return ended_; }

 private:
  void Run() {
    std::string piece(kPiece, '\0');
    while (true) {
      pollfd both[] = {{from_, POLLIN, 0}, {stop_, POLLIN, 0}};
      if (poll(both, 2, -1) < 0) continue;  // EINTR
      if (both[0].revents == 0) break;      // stopped, and nothing is there
      const ssize_t got = read(from_, piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      const std::string_view bytes(piece.data(), static_cast<size_t>(got));
      const bool fine = tee_.error().empty();
      // Nobody reads: the program shall see that as if it wrote there itself.
      if (!tee_.Write(bytes)) break;
      if (fine && !tee_.error().empty()) voice_->Note(tee_.error());
      HandLines(bytes);
    }
    close(from_);
    if (!begun_.empty()) judge_->Hand(begun_ + "\n");
    ended_ = true;
  }

  void HandLines(std::string_view bytes) {
    const size_t last = bytes.find_last_of("\r\n");
    const size_t whole = last == std::string_view::npos ? 0 : last + 1;
    if (whole > 0) {
      begun_ += bytes.substr(0, whole);
      judge_->Hand(begun_);
      begun_.clear();
    }
    begun_ += bytes.substr(whole);
    if (begun_.size() > kPiece) {  // no line is so long
      judge_->Hand(begun_ + "\n");
      begun_.clear();
    }
  }

  const int from_;
  const int stop_;
  TeeOut tee_;
  JudgeThread* const judge_;
  TailVoice* const voice_;
  std::string begun_;  // a line without its end
  std::atomic<bool> ended_ = false;
  std::thread thread_;  // last: uses the others
};

// "train" of "python3 -u train.py --lr 1".
std::string JobOf(const std::vector<std::string>& command) {
  std::string name = command[0];
  for (const std::string& word : command) {
    if (!word.ends_with(".py")) continue;
    name = word.substr(0, word.size() - 3);
    break;
  }
  return name.substr(name.rfind('/') + 1);
}

// Whether clients find a run id in the environment (client_lib/src/identity.cc)
// on which others of the job agree.
bool HasRunId(const Environment& environment) {
  const auto set = [&](const char* name) { return !environment(name).empty(); };
  const std::string elastic = environment("TORCHELASTIC_RUN_ID");
  const bool tpus =
      environment("TPU_WORKER_HOSTNAMES").find(',') != std::string::npos;
  return set("NANWATCH_RUN_ID") || (!elastic.empty() && elastic != "none") ||
         set("SLURM_JOB_ID") || (set("MASTER_ADDR") && set("MASTER_PORT")) ||
         (set("MS_SCHED_HOST") && set("MS_SCHED_PORT")) ||
         set("MEGASCALE_COORDINATOR_ADDRESS") || tpus;
}

std::string NewRunId(const std::string& job) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return fmt::format("{}-{}-{}", job, text, getpid());
}

class Training {
 public:
  explicit Training(const RunOptions& options)
      : options_(options),
        job_(JobOf(options.command)),
        voice_(STDERR_FILENO, /*json=*/false) {}

  int Run() {
    Launched program;  // before any thread
    signal(SIGPIPE, SIG_IGN);
    FindDaemonAndRun();
    const int failed = program.Start(options_.command, Variables());
    if (failed != 0) {
      return Fail(fmt::format("{}: {}", Clean(options_.command[0]),
                              std::strerror(failed)),
                  failed == ENOENT ? kNotFound : kCannotRun);
    }
    TailJudge judge({.format = options_.format,
                     .columns = options_.columns,
                     .ranks = {std::nullopt},
                     .idle_flush = std::chrono::seconds(5),
                     .voice = &voice_,
                     .feed = feed_.get()});
    const int status = Follow(&program, &judge);
    Conclude(judge.Finish());
    return Launched::EndAlike(status);
  }

 private:
  void FindDaemonAndRun() {
    const Environment environment = ProcessEnvironment();
    run_id_ = options_.run_id;
    if (run_id_.empty() && !HasRunId(environment)) run_id_ = NewRunId(job_);
    if (!options_.daemon) return;
    address_ = options_.address;
    if (address_.empty() && !environment("NANWATCH_ADDRESS").empty()) {
      address_ = FindDaemon();
    }
    if (address_.empty()) {
      const Result<std::string> found = own_.Ensure();
      if (!found.ok()) {
        voice_.Note(fmt::format("no daemon, only the output is judged: {}",
                                found.error()));
        return;
      }
      address_ = *found;
    }
    hooks_ = std::make_unique<HookWatch>(address_, &announced_, &voice_);
    TailFeed::Options feed;
    feed.address = address_;
    feed.job = job_;
    feed.run_id = run_id_;
    feed.rank_of_environment = true;
    feed.tells_itself = [this] { return announced_.any(); };
    feed_ = std::make_unique<TailFeed>(std::move(feed));
  }

  std::vector<std::pair<std::string, std::string>> Variables() const {
    std::vector<std::pair<std::string, std::string>> all;
    if (!run_id_.empty()) all.emplace_back("NANWATCH_RUN_ID", run_id_);
    if (!address_.empty()) {
      all.emplace_back("NANWATCH_ADDRESS", address_);
      all.emplace_back("NANWATCH_ANNOUNCE", announced_.path());
    }
    // Into a pipe Python would print 8 KB at a time.
    if (ProcessEnvironment()("PYTHONUNBUFFERED").empty()) {
      all.emplace_back("PYTHONUNBUFFERED", "1");
    }
    return all;
  }

  // How the program ended, as waitpid() gives it.
  int Follow(Launched* program, TailJudge* judge) {
    const int stop = eventfd(0, EFD_CLOEXEC);
    JudgeThread judging(judge, [this] {
      if (hooks_ != nullptr) hooks_->Look();
    });
    int status = 0;
    {
      Passing out(program->out(), STDOUT_FILENO, stop, &judging, &voice_);
      Passing err(program->err(), STDERR_FILENO, stop, &judging, &voice_);
      status = program->Wait();
      const auto end = std::chrono::steady_clock::now() + kAfterwards;
      while (!(out.ended() && err.ended()) &&
             std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      eventfd_write(stop, 1);
    }
    close(stop);
    const uint64_t unjudged = judging.Finish();
    if (unjudged > 0) {
      voice_.Note(fmt::format("{} bytes came too fast and were not judged",
                              Grouped(unjudged)));
    }
    return status;
  }

  // The daemon's word on what the program told it; else on what its log did;
  // else the log's own.
  void Conclude(const LogVerdict& verdict) {
    std::vector<std::string> runs = announced_.runs();
    if (feed_ != nullptr) {
      if (runs.empty() && verdict.records > 0) {
        const std::string lost = feed_->Close();
        if (!lost.empty()) {
          voice_.Note(lost);
        } else if (!feed_->run_id().empty()) {
          runs.push_back(feed_->run_id());
        }
      }
    }
    bool reported = false;
    for (const std::string& run : runs) {
      const std::string report = hooks_->Report(run);
      if (report.empty()) continue;
      reported = true;
      std::fputs(fmt::format("\n{}", report).c_str(), stderr);
    }
    if (!reported) voice_.Conclude(verdict, job_, "");
  }

  const RunOptions& options_;
  const std::string job_;
  TailVoice voice_;
  OwnDaemon own_;
  Announced announced_;
  std::string run_id_;   // empty: clients find the launcher's
  std::string address_;  // empty: no daemon
  std::unique_ptr<HookWatch> hooks_;
  std::unique_ptr<TailFeed> feed_;
};

}  // namespace

int RunTraining(const RunOptions& options) { return Training(options).Run(); }

}  // namespace nanwatch
