#include "net/http_client.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "net/url.h"
#include "tests/unit/net/http_stub.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class HttpClientTest : public ::testing::Test {
 protected:
  PostReply Post(const std::string& url, Duration timeout = Duration(5000000)) {
    const HttpPost request{url, R"({"a":1})", "application/json", timeout};
    return client_->PostAll({&request, 1})[0];
  }
  HttpStub stub_;
  std::unique_ptr<HttpClient> client_ = NewCurlHttpClient();
};

TEST_F(HttpClientTest, PostsTheBody) {
  const PostReply reply = Post(stub_.url() + "/api");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(DeliveryOf(reply), Delivery::kDelivered);
  ASSERT_THAT(stub_.seen(), SizeIs(1));
  EXPECT_EQ(stub_.seen()[0].path, "/api");
  EXPECT_EQ(stub_.seen()[0].body, R"({"a":1})");
  EXPECT_THAT(stub_.seen()[0].headers,
              HasSubstr("Content-Type: application/json"));
}

TEST_F(HttpClientTest, SaysHowLongToWait) {
  stub_.AnswerNext(429, "Retry-After: 7\r\n");
  const PostReply reply = Post(stub_.url());
  EXPECT_EQ(DeliveryOf(reply), Delivery::kRetry);
  EXPECT_EQ(reply.retry_after, std::chrono::seconds(7));
}

TEST_F(HttpClientTest, StatusesAreDeliveredRetriedOrRejected) {
  PostReply reply;
  const auto of = [&](int status) {
    reply.status = status;
    return DeliveryOf(reply);
  };
  EXPECT_EQ(of(0), Delivery::kRetry);
  EXPECT_EQ(of(204), Delivery::kDelivered);
  EXPECT_EQ(of(302), Delivery::kRejected);
  EXPECT_EQ(of(400), Delivery::kRejected);
  EXPECT_EQ(of(408), Delivery::kRetry);
  EXPECT_EQ(of(429), Delivery::kRetry);
  EXPECT_EQ(of(503), Delivery::kRetry);
}

TEST_F(HttpClientTest, DoesNotFollowARedirect) {
  stub_.AnswerNext(302, "Location: " + stub_.url() + "/other\r\n");
  EXPECT_EQ(Post(stub_.url()).status, 302);
  EXPECT_THAT(stub_.seen(), SizeIs(1));
}

TEST_F(HttpClientTest, KeepsTheBeginningOfALongAnswer) {
  stub_.AnswerNext(200, "", std::string(100000, 'x'));
  EXPECT_THAT(Post(stub_.url()).body, SizeIs(kReplyBytes));
}

TEST_F(HttpClientTest, OneThatIsDownDoesNotHoldUpTheOther) {
  const std::array<HttpPost, 2> requests = {
      HttpPost{"http://127.0.0.1:1/", "{}"}, HttpPost{stub_.url(), "{}"}};
  const std::vector<PostReply> replies = client_->PostAll(requests);
  EXPECT_EQ(replies[0].status, 0);
  EXPECT_THAT(replies[0].error, HasSubstr("connect"));
  EXPECT_EQ(replies[1].status, 200);
}

TEST_F(HttpClientTest, EndsAtTheDeadline) {
  stub_.AnswerNext(0);
  const PostReply reply = Post(stub_.url(), std::chrono::milliseconds(50));
  EXPECT_EQ(reply.status, 0);
  EXPECT_THAT(reply.error, HasSubstr("Timeout"));
}

TEST_F(HttpClientTest, CancelEndsAWaitAndHoldsUntilResume) {
  stub_.AnswerNext(0);
  std::thread canceller([this] {
    while (stub_.seen().empty()) std::this_thread::yield();
    client_->Cancel();
  });
  EXPECT_EQ(Post(stub_.url(), std::chrono::minutes(1)).error, "cancelled");
  canceller.join();
  EXPECT_EQ(Post(stub_.url()).status, 0);
  client_->Resume();
  EXPECT_EQ(Post(stub_.url()).status, 200);
}

TEST_F(HttpClientTest, SecretsGoToTheServerAndNowhereElse) {
  std::string url = stub_.url();
  url.insert(7, "user:hunter2@");
  EXPECT_EQ(Post(url).status, 200);
  EXPECT_THAT(stub_.seen()[0].headers, HasSubstr("Authorization: Basic "));
  const PostReply reply = Post("http://user:hunter2@127.0.0.1:1/secret");
  EXPECT_THAT(reply.error, Not(HasSubstr("hunter2")));
  EXPECT_THAT(reply.error, Not(HasSubstr("secret")));
}

TEST_F(HttpClientTest, RefusesOtherSchemes) {
  EXPECT_EQ(Post("file:///etc/passwd").status, 0);
  EXPECT_EQ(Post("").status, 0);
}

TEST_F(HttpClientTest, SpeaksOverAUnixSocket) {
  char folder[] = "/tmp/nanwatch-net-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/s";
  {
    HttpStub stub(path);
    const std::string url = "http+unix://" + PercentEncoded(path) + "/api";
    EXPECT_EQ(Post(url).status, 200);
    ASSERT_THAT(stub.seen(), SizeIs(1));
    EXPECT_EQ(stub.seen()[0].path, "/api");
  }
  unlink(path.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace nanwatch
