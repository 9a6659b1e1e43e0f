// Notifier: tells Alertmanager and webhooks of incidents. A thread of its own
// waits for other people's servers; nobody waits for it.

#ifndef NANWATCH_NOTIFY_NOTIFIER_H_
#define NANWATCH_NOTIFY_NOTIFIER_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "model/incident.h"
#include "model/self_sample.h"
#include "net/http_client.h"
#include "notify/alert_table.h"
#include "notify/options.h"
#include "notify/webhook_queue.h"

namespace nanwatch {

enum class Receiver : uint8_t { kAlertmanager, kWebhook };
inline constexpr int kReceivers = 2;
std::string_view Name(Receiver receiver);

struct NotifyStats {
  struct Counts {
    uint64_t sends = 0;     // requests
    uint64_t failures = 0;  // requests that were not accepted
    uint64_t dropped = 0;   // notices given up: rejected, or no room
    uint64_t queued = 0;    // now
  };
  std::array<Counts, kReceivers> receiver;
};

class Notifier {
 public:
  // Starts the thread. A webhook whose body is no good gets the built-in one.
  static std::unique_ptr<Notifier> Start(NotifyOptions options, Clock& clock);
  // Without a thread: tests call RunOnce.
  Notifier(NotifyOptions options, Clock& clock,
           std::unique_ptr<HttpClient> client);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // News of an incident, which must be on disk already. Any thread; never
  // blocks. Newest per incident wins; beyond limits::kNotices waiting ones it
  // is dropped and counted.
  void Offer(const Notice& notice);
  // An incident that fires since before this daemon began, and was said then.
  // Alertmanager must hear of it again or forgets it; webhooks are not called.
  void Adopt(const Notice& notice);
  // Another daemon tells of it from here on: nothing more is said, not even
  // that it is over.
  void Release(const Notice& notice);

  // One turn: takes what was offered and sends what is due, all receivers at
  // the same time. Returns when to come again; nullopt: with the next Offer.
  std::optional<Time> RunOnce(Time now);

  // Ends what is under way, tries once more for at most a second to say what
  // was not said, and ends the thread.
  void Stop();

  NotifyStats stats() const;
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  enum class As : uint8_t { kNews, kAdopted, kReleased };
  struct Offered {
    Notice notice;
    As as = As::kNews;
  };
  struct Webhook {
    std::string url;
    WebhookQueue queue;
  };

  void Run() NANWATCH_TS(no_thread_safety_analysis);  // locks for itself
  void Put(const Notice& notice, As as);
  void TakeOffered(Time now);
  std::optional<Time> NextDue() const;
  void ReadAlertmanagers(Time now, const std::vector<Alert>& alerts,
                         const std::vector<PostReply>& replies);
  void ReadWebhook(Time now, const PostReply& reply, Webhook* webhook);
  void Complain(Time now, std::string_view url, const PostReply& reply);
  void Publish();

  const NotifyOptions options_;
  Clock& clock_;
  const std::unique_ptr<HttpClient> client_;

  // The thread's alone.
  AlertTable alerts_{options_};
  std::string webhook_body_;
  std::vector<Webhook> webhooks_;
  Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(1)};
  Time alerts_not_before_{};
  Duration timeout_;
  std::minstd_rand random_;
  LogThrottle throttle_{std::chrono::minutes(1)};
  NotifyStats counting_;

  mutable Mutex mutex_;
  std::condition_variable woken_;
  std::map<IncidentKey, Offered> offered_ GUARDED_BY(mutex_);
  uint64_t refused_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
  NotifyStats stats_ GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_NOTIFIER_H_
