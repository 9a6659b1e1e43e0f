#include "push/remote_write.h"

#include <snappy.h>
#include <spdlog/fmt/fmt.h>

#include <utility>
#include <vector>

#include "base/file.h"
#include "net/http_client.h"
#include "net/url.h"
#include "push/write_request.h"

namespace nanwatch {
namespace {

// As Prometheus' own senders (remote_timeout).
constexpr Duration kTimeout = std::chrono::seconds(30);
constexpr size_t kTokenMost = 4096;

using Answer = SinkReply::Verdict;

// The specification lets nobody send again what is refused by 4xx. Who is not
// let in, or calls the wrong place, has said nothing of the samples yet: they
// wait for whoever mends the settings.
Answer VerdictOn(const PostReply& reply) {
  switch (DeliveryOf(reply)) {
    case Delivery::kDelivered:
      return Answer::kTaken;
    case Delivery::kRetry:
      return reply.status == 500 ? Answer::kFailed : Answer::kLater;
    case Delivery::kRejected:
      break;
  }
  const bool of_the_samples =
      reply.status == 400 || reply.status == 413 || reply.status == 422;
  return of_the_samples ? Answer::kRefused : Answer::kLater;
}

class RemoteWrite : public Sink {
 public:
  explicit RemoteWrite(const PushOptions& options)
      : options_(options.remote_write),
        labels_(options.labels),
        client_(NewCurlHttpClient()) {}

  std::string_view name() const override { return "remote_write"; }
  std::string address() const override { return PublicUrl(options_.url); }

  SinkReply Send(std::span<const Moment> moments) override {
    return Post(WriteRequestOf(moments, labels_));
  }

  bool Works(Time now) override {
    push::v1::WriteRequest request;
    push::v1::TimeSeries* series = request.add_timeseries();
    std::map<std::string, std::string> labels = labels_;
    labels["__name__"] = "nanwatch_step_probe";
    SetLabels(labels, series);
    series->add_samples()->set_value(1);
    series->mutable_samples(0)->set_timestamp(ToMicros(now) / 1000);
    const Answer verdict = Post(request).verdict;
    return verdict == Answer::kTaken || verdict == Answer::kRefused;
  }

  void Cancel() override { client_->Cancel(); }

 private:
  SinkReply Post(const push::v1::WriteRequest& request) {
    const std::string plain = request.SerializeAsString();
    HttpPost post;
    snappy::Compress(plain.data(), plain.size(), &post.body);
    post.url = options_.url;
    post.content_type = "application/x-protobuf";
    post.timeout = kTimeout;
    post.headers = {"Content-Encoding: snappy",
                    "X-Prometheus-Remote-Write-Version: 0.1.0"};
    post.tls = {options_.ca, options_.cert, options_.key};
    if (!options_.token_file.empty()) {
      std::string token = ReadHead(options_.token_file, kTokenMost);
      token.erase(token.find_last_not_of(" \t\r\n") + 1);
      if (token.empty()) {
        return {Answer::kLater, std::nullopt,
                options_.token_file + " holds no token"};
      }
      post.headers.push_back("Authorization: Bearer " + token);
    }
    const std::vector<PostReply> replies = client_->PostAll({&post, 1});
    const PostReply& reply = replies.front();
    SinkReply said;
    said.verdict = VerdictOn(reply);
    said.retry_after = reply.retry_after;
    said.why = reply.status == 0
                   ? reply.error
                   : fmt::format("status={} {}", reply.status,
                                 std::string_view(reply.body).substr(0, 200));
    return said;
  }

  const RemoteWriteOptions options_;
  const std::map<std::string, std::string> labels_;
  const std::unique_ptr<HttpClient> client_;
};

}  // namespace

std::unique_ptr<Sink> NewRemoteWrite(const PushOptions& options) {
  return std::make_unique<RemoteWrite>(options);
}

}  // namespace nanwatch
