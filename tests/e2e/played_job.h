// A job of which many relays are played: what one said when it was recorded,
// and what becomes of that.

#ifndef NANWATCH_TESTS_E2E_PLAYED_JOB_H_
#define NANWATCH_TESTS_E2E_PLAYED_JOB_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch {

struct PlayOptions {
  std::string address;    // in gRPC's notation
  std::string recording;  // unpacked
  std::string ca;         // a file; empty: no TLS
  std::string token;      // a file; empty: none
  std::string run = "job";
  int relays = 1;
  int first_rank = 0;
  int world = 0;    // 0: as many ranks as are played
  double pace = 1;  // so many times as long as it took
  int nan_rank = -1;
  int64_t nan_step = -1;
  bool clients = false;
};

// Whose message it is, and its number there; 0: it has none.
struct MessagePlace {
  uint64_t session = 0;
  uint64_t sequence = 0;
};

struct RecordedMessage {
  int64_t time_us = 0;  // Unix time
  MessagePlace place;
  std::string bytes;
};

// What all relays share.
struct PlayedJob {
  PlayOptions options;
  std::vector<RecordedMessage> messages;
  std::map<uint64_t, int> rank;       // of recorded sessions
  std::map<uint64_t, uint64_t> last;  // the newest sequence of each
  uint64_t salt = std::random_device{}();
  std::chrono::steady_clock::time_point begun;
  std::atomic<bool> close{false};  // the ranks may end
  std::atomic<int> opened{0};
  std::atomic<int> held{0};  // sessions of which all up to the close is
  std::atomic<int> closed{0};
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> refusals{0};
  std::atomic<uint64_t> reconnects{0};
  std::atomic<int64_t> nan_at{0};  // Unix microseconds

  int ranks() const { return static_cast<int>(rank.size()) * options.relays; }
};

int64_t UnixMicros();
std::string ReadFile(const std::string& path);
[[noreturn]] void GiveUp(const std::string& why);

// Reads the messages that `options.recording` has.
void ReadRecording(PlayedJob* job);

// Returns the message as the relay `number` says it now.
v1::IngestRequest Replayed(const RecordedMessage& recorded, int number,
                           PlayedJob* job);
// Returns the id of the relay's session, and back.
uint64_t PlayedId(uint64_t recorded, int number, const PlayedJob& job);
uint64_t RecordedId(uint64_t id, int number, const PlayedJob& job);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_E2E_PLAYED_JOB_H_
