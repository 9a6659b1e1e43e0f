// play_relays: says what a recorded relay said (tests/bench/scale/recorder.py)
// as many relays do, each over a connection of its own: with session ids, ranks
// and hosts of its own, and times of now. With --clients it leaves out what
// only a relay says.
//
// It prints a line of JSON for each of: all sessions are open; the NaN that was
// asked for is on its way; all but the closes is held; all is held. Before the
// closes it waits for a line on its input.

#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "played_job.h"
#include "played_relay.h"

namespace nanwatch {
namespace {

void Tell(const PlayedJob& job, const char* what) {
  const auto passed = std::chrono::steady_clock::now() - job.begun;
  std::printf(
      "{\"what\": \"%s\", \"seconds\": %.3f, \"ranks\": %d, \"messages\": "
      "%llu, "
      "\"bytes\": %llu, \"refusals\": %llu, \"reconnects\": %llu, "
      "\"nan_at\": %.6f}\n",
      what, std::chrono::duration<double>(passed).count(), job.ranks(),
      static_cast<unsigned long long>(job.sent),
      static_cast<unsigned long long>(job.bytes),
      static_cast<unsigned long long>(job.refusals),
      static_cast<unsigned long long>(job.reconnects),
      static_cast<double>(job.nan_at) / 1e6);
  std::fflush(stdout);
}

void AllowOpenFiles() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

[[noreturn]] void Play(PlayedJob* job) {
  const PlayOptions& options = job->options;
  const auto credentials =
      options.ca.empty() ? grpc::InsecureChannelCredentials()
                         : grpc::SslCredentials({ReadFile(options.ca), "", ""});
  const std::string token =
      options.token.empty() ? "" : ReadFile(options.token);
  std::vector<std::unique_ptr<PlayedRelay>> relays;
  for (int i = 0; i < options.relays; ++i) {
    relays.push_back(std::make_unique<PlayedRelay>(
        job, i, token.substr(0, token.find('\n')), credentials));
  }
  std::thread([job] {
    std::string line;
    std::getline(std::cin, line);
    job->close = true;
  }).detach();
  job->begun = std::chrono::steady_clock::now();
  bool opened = false;
  bool spoilt = false;
  bool held = false;
  const auto tell = [&](bool now, bool* told, const char* what) {
    if (now && !std::exchange(*told, true)) Tell(*job, what);
  };
  while (job->closed < job->ranks()) {
    for (auto& relay : relays) relay->Pump();
    tell(job->opened == job->ranks(), &opened, "open");
    tell(job->nan_at != 0, &spoilt, "spoilt");
    tell(job->held == job->ranks(), &held, "held");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Tell(*job, "closed");
  // gRPC would wait for threads of its own, to no purpose.
  std::_Exit(0);
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  nanwatch::PlayedJob job;
  nanwatch::PlayOptions& o = job.options;
  CLI::App app{"Says what a recorded relay said, as many relays do."};
  app.add_option("recording", o.recording)->required();
  app.add_option("--address", o.address)->required();
  app.add_option("--ca", o.ca);
  app.add_option("--token", o.token);
  app.add_option("--run", o.run);
  app.add_option("--relays", o.relays);
  app.add_option("--first-rank", o.first_rank);
  app.add_option("--world", o.world);
  app.add_option("--pace", o.pace);
  app.add_option("--nan-rank", o.nan_rank);
  app.add_option("--nan-step", o.nan_step);
  app.add_flag("--clients", o.clients);
  CLI11_PARSE(app, argc, argv);
  nanwatch::ReadRecording(&job);
  if (o.world == 0) o.world = job.ranks();
  nanwatch::AllowOpenFiles();
  nanwatch::Play(&job);
}
