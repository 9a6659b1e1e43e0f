// Sender: the thread between the ring and the daemon. Finds the daemon, opens
// the session, sends batches in sequence, keeps them until they are
// acknowledged, and begins again when the stream ends.

#ifndef NANWATCH_CLIENT_SENDER_H_
#define NANWATCH_CLIENT_SENDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client_lib/src/batcher.h"
#include "client_lib/src/outbox.h"
#include "client_lib/src/redial.h"
#include "client_lib/src/shared.h"
#include "client_lib/src/stream.h"
#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

struct SenderOptions {
  nanwatch::v1::OpenSession open;      // session, run, rank and client are set
  std::vector<std::string> addresses;  // at least one
  CredentialFiles credentials;
  // Beyond, nothing is taken from the ring, which then fills: what is lost is
  // the newest, counted at the push. The oldest has the start of the trouble.
  size_t unacked_bytes = 64 << 20;
  std::string announce;  // a file (announce.h); empty: none
};

class Sender {
 public:
  Sender(std::shared_ptr<Shared> shared, SenderOptions options);

  // Until Shared::ending is set, and what follows from it is done.
  void Run();

 private:
  // Where the stream stands.
  enum class State { kAway, kStarting, kOpening, kOpen };

  bool Ending();
  bool MustDrain(SteadyTime now);
  void Drain(SteadyTime now);
  void Connect(SteadyTime now);
  void Pump(SteadyTime now);
  void SendNext(SteadyTime now);
  void SendOpen();
  void CheckSilence(SteadyTime now);
  // The daemon owes us an answer since silent_since_, or none.
  void Owed(bool owed);
  void WaitAway(SteadyTime now);
  void Disconnect(std::string why, SteadyTime now);

  void OnResponse(const nanwatch::v1::IngestResponse& response, SteadyTime now);
  void OnOpened(const nanwatch::v1::SessionOpened& opened, SteadyTime now);
  void OnAck(uint64_t records, bool durable, SteadyTime now);
  void OnRefusal(const nanwatch::v1::Refusal& refusal, SteadyTime now);
  void OnRefusedSession(const nanwatch::v1::Refusal& refusal, SteadyTime now);
  void OnRefusedForGood(const nanwatch::v1::Refusal& refusal);
  void OnOutOfSequence(const nanwatch::v1::Refusal& refusal, SteadyTime now);
  void Report(const std::string& error);

  const std::shared_ptr<Shared> shared_;
  SenderOptions options_;
  Batcher batcher_;
  Outbox outbox_;
  Redial redial_;

  State state_ = State::kAway;
  std::unique_ptr<Stream> stream_;
  bool writing_ = false;
  bool ever_tried_ = false;
  bool ever_open_ = false;
  bool durable_ = true;  // as the handshake said
  bool close_pushed_ = false;
  bool last_try_ = false;  // ending, and the pause was lifted for it
  bool done_ = false;      // ending, and no more to hope for
  bool owed_ = false;
  SteadyTime silent_since_{};  // the daemon owes us an answer since then
  std::optional<SteadyTime> waiting_since_;  // the oldest record in the ring
  SteadyTime last_record_{};
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_SENDER_H_
