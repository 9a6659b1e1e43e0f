#include "notify/notifier.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/limits.h"
#include "model/metric_names.h"
#include "net/url.h"
#include "notify/alertmanager.h"
#include "notify/template.h"

namespace nanwatch {
namespace {

// The thread looks around so often, whatever it waits for: clocks jump.
constexpr Duration kLongestWait = std::chrono::seconds(5);
constexpr Duration kLastWords = std::chrono::seconds(1);

constexpr int kAlertmanager = static_cast<int>(Receiver::kAlertmanager);
constexpr int kWebhook = static_cast<int>(Receiver::kWebhook);

}  // namespace

std::string_view Name(Receiver receiver) {
  return receiver == Receiver::kAlertmanager ? "alertmanager" : "webhook";
}

std::unique_ptr<Notifier> Notifier::Start(NotifyOptions options, Clock& clock) {
  if (options.external_url.empty() &&
      !(options.alertmanager.urls.empty() && options.webhook.urls.empty())) {
    LogInfo("alerts have no link to a run's page: set notify.external_url");
  }
  auto notifier = std::make_unique<Notifier>(std::move(options), clock,
                                             NewCurlHttpClient());
  notifier->thread_ = std::thread([n = notifier.get()] { n->Run(); });
  return notifier;
}

Notifier::Notifier(NotifyOptions options, Clock& clock,
                   std::unique_ptr<HttpClient> client)
    : options_(std::move(options)),
      clock_(clock),
      client_(std::move(client)),
      timeout_(options_.timeout),
      random_(std::random_device{}()) {
  webhook_body_ = options_.webhook.body;
  if (webhook_body_.empty()) webhook_body_ = DefaultWebhookBody();
  const Status status = CheckWebhookBody(webhook_body_);
  if (!status.ok()) {
    LogError("the webhook's body is no good; the built-in one is sent",
             fmt::format("error=\"{}\"", status.error()));
    webhook_body_ = DefaultWebhookBody();
  }
  for (const std::string& url : options_.webhook.urls) {
    webhooks_.push_back({url, WebhookQueue(options_.from, options_.settle)});
  }
}

Notifier::~Notifier() { Stop(); }

void Notifier::Offer(const Notice& notice) { Put(notice, As::kNews); }
void Notifier::Adopt(const Notice& notice) { Put(notice, As::kAdopted); }
void Notifier::Release(const Notice& notice) { Put(notice, As::kReleased); }

void Notifier::Put(const Notice& notice, As as) {
  if (options_.alertmanager.urls.empty() && webhooks_.empty()) return;
  {
    MutexLock lock(mutex_);
    const IncidentKey key = KeyOf(notice);
    const auto found = offered_.find(key);
    if (found != offered_.end()) {
      // Real news of it came first: an old state must not cover it.
      if (as != As::kAdopted || found->second.as == As::kAdopted) {
        found->second = {notice, as};
      }
    } else if (offered_.size() < limits::kNotices) {
      offered_.emplace(key, Offered{notice, as});
    } else {
      ++refused_;
    }
  }
  woken_.notify_one();
}

void Notifier::TakeOffered(Time now) {
  std::map<IncidentKey, Offered> taken;
  {
    MutexLock lock(mutex_);
    taken.swap(offered_);
    counting_.receiver[kAlertmanager].dropped += refused_;
    counting_.receiver[kWebhook].dropped += refused_;
    refused_ = 0;
  }
  // In the order they changed, not by their keys.
  std::vector<const Offered*> order;
  for (const auto& [key, offered] : taken) order.push_back(&offered);
  std::stable_sort(
      order.begin(), order.end(), [](const Offered* a, const Offered* b) {
        return a->notice.incident.updated < b->notice.incident.updated;
      });
  for (const Offered* offered : order) {
    if (offered->as == As::kReleased) {
      const IncidentKey key = KeyOf(offered->notice);
      alerts_.Release(key);
      for (Webhook& webhook : webhooks_) webhook.queue.Release(key);
      continue;
    }
    if (!options_.alertmanager.urls.empty() &&
        !alerts_.Take(now, offered->notice)) {
      ++counting_.receiver[kAlertmanager].dropped;
    }
    for (Webhook& webhook : webhooks_) {
      if (offered->as == As::kAdopted) {
        webhook.queue.Adopt(offered->notice);
      } else if (!webhook.queue.Take(now, offered->notice)) {
        ++counting_.receiver[kWebhook].dropped;
      }
    }
  }
}

std::optional<Time> Notifier::RunOnce(Time now) {
  TakeOffered(now);
  const LinkBases links{options_.external_url, options_.runbooks_url};
  std::vector<HttpPost> requests;
  std::vector<Alert> alerts;
  if (now >= alerts_not_before_) alerts = alerts_.Due(now, kAlertsPerRequest);
  if (!alerts.empty()) {
    const std::string body = AlertsJson(alerts, links);
    for (const std::string& peer : options_.alertmanager.urls) {
      requests.push_back(
          {JoinUrl(peer, kAlertsPath), body, "application/json", timeout_});
    }
  }
  const size_t peers = requests.size();
  std::vector<Webhook*> called;
  for (Webhook& webhook : webhooks_) {
    const Notice* notice = webhook.queue.Due(now);
    if (notice == nullptr) continue;
    requests.push_back({webhook.url,
                        RenderWebhookBody(webhook_body_, *notice, links),
                        "application/json", timeout_});
    called.push_back(&webhook);
  }
  if (!requests.empty()) {
    std::vector<PostReply> replies = client_->PostAll(requests);
    for (size_t i = 0; i < called.size(); ++i) {
      ReadWebhook(now, replies[peers + i], called[i]);
    }
    replies.resize(peers);
    if (peers > 0) ReadAlertmanagers(now, alerts, replies);
  }
  Publish();
  return NextDue();
}

// One peer is enough: they tell each other. So Prometheus does it.
void Notifier::ReadAlertmanagers(Time now, const std::vector<Alert>& alerts,
                                 const std::vector<PostReply>& replies) {
  NotifyStats::Counts& counts = counting_.receiver[kAlertmanager];
  bool delivered = false;
  bool rejected = true;
  std::optional<Duration> wait;
  for (size_t i = 0; i < replies.size(); ++i) {
    ++counts.sends;
    const Delivery delivery = DeliveryOf(replies[i]);
    delivered = delivered || delivery == Delivery::kDelivered;
    rejected = rejected && delivery == Delivery::kRejected;
    if (replies[i].retry_after) wait = std::max(wait, replies[i].retry_after);
    if (delivery == Delivery::kDelivered) continue;
    ++counts.failures;
    Complain(now, options_.alertmanager.urls[i], replies[i]);
  }
  // What all reject they would reject again; Alertmanager keeps the valid ones
  // of such a request.
  if (!delivered && rejected) counts.dropped += alerts.size();
  if (delivered || rejected) {
    alerts_.Settle(now, alerts);
    backoff_.Reset();
    alerts_not_before_ = Time{};
    return;
  }
  alerts_not_before_ =
      now + std::max(backoff_.Next(random_()), wait.value_or(Duration(0)));
}

void Notifier::ReadWebhook(Time now, const PostReply& reply, Webhook* webhook) {
  NotifyStats::Counts& counts = counting_.receiver[kWebhook];
  ++counts.sends;
  const Delivery delivery = DeliveryOf(reply);
  if (delivery != Delivery::kDelivered) {
    ++counts.failures;
    Complain(now, webhook->url, reply);
  }
  if (delivery == Delivery::kRetry) {
    webhook->queue.Failed(now, reply.retry_after, random_());
    return;
  }
  if (delivery == Delivery::kRejected) ++counts.dropped;
  webhook->queue.Sent();
}

void Notifier::Complain(Time now, std::string_view url,
                        const PostReply& reply) {
  int64_t suppressed = 0;
  if (!throttle_.Allow(now, &suppressed)) return;
  const std::string why = reply.status == 0
                              ? "error=\"" + reply.error + "\""
                              : fmt::format("status={}", reply.status);
  LogWarning(
      "a notification was not accepted",
      fmt::format("url={} {} retried={} suppressed={}", PublicUrl(url), why,
                  DeliveryOf(reply) == Delivery::kRetry, suppressed));
}

std::optional<Time> Notifier::NextDue() const {
  std::optional<Time> next;
  if (!options_.alertmanager.urls.empty()) {
    next = alerts_.NextDue();
    if (next) next = std::max(*next, alerts_not_before_);
  }
  for (const Webhook& webhook : webhooks_) {
    const std::optional<Time> due = webhook.queue.NextDue();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

void Notifier::Run() {
  while (true) {
    const std::optional<Time> next = RunOnce(clock_.Now());
    std::unique_lock<std::mutex> lock(mutex_.native());
    const auto ready = [this]() NANWATCH_TS(no_thread_safety_analysis) {
      return stop_ || !offered_.empty();
    };
    Duration wait = kLongestWait;
    if (next)
      wait = std::min(wait, std::max(Duration(0), *next - clock_.Now()));
    woken_.wait_for(lock, wait, ready);
    if (stop_) return;
  }
}

void Notifier::Stop() {
  {
    MutexLock lock(mutex_);
    if (stop_) return;
    stop_ = true;
  }
  woken_.notify_one();
  if (!thread_.joinable()) return;
  client_->Cancel();
  thread_.join();
  client_->Resume();
  // The thread is gone: its members are ours.
  timeout_ = kLastWords;
  alerts_not_before_ = Time{};
  TakeOffered(clock_.Now());
  alerts_.Hurry();
  for (Webhook& webhook : webhooks_) webhook.queue.Hurry();
  const Time end = clock_.Now() + kLastWords;
  for (Time now = clock_.Now(); now < end; now = clock_.Now()) {
    const std::optional<Time> next = RunOnce(now);
    if (!next || *next > now) return;
  }
}

void Notifier::Publish() {
  counting_.receiver[kAlertmanager].queued = alerts_.unsent();
  uint64_t queued = 0;
  for (const Webhook& webhook : webhooks_) queued += webhook.queue.size();
  counting_.receiver[kWebhook].queued = queued;
  MutexLock lock(mutex_);
  stats_ = counting_;
}

NotifyStats Notifier::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

void Notifier::AppendSamples(std::vector<SelfSample>* samples) const {
  const NotifyStats stats = this->stats();
  for (int i = 0; i < kReceivers; ++i) {
    const NotifyStats::Counts& counts = stats.receiver[i];
    const auto add = [&](Metric metric, uint64_t value) {
      samples->push_back(
          {Name(metric),
           {{"receiver", std::string(Name(static_cast<Receiver>(i)))}},
           static_cast<double>(value)});
    };
    add(Metric::kNotifySent, counts.sends);
    add(Metric::kNotifyFailures, counts.failures);
    add(Metric::kNotifyDropped, counts.dropped);
    add(Metric::kNotifyQueue, counts.queued);
  }
}

}  // namespace nanwatch
