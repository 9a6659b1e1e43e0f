#include "web/server.h"

#include <curl/curl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/unit/web/fake_backend.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

size_t Append(char* bytes, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(bytes, size * count);
  return size * count;
}

struct Answer {
  long status = 0;
  std::string head;
  std::string body;
};

Answer Fetch(const std::string& url, const std::string& host = "",
             bool head_only = false) {
  Answer answer;
  CURL* curl = curl_easy_init();
  curl_slist* headers = nullptr;
  if (!host.empty()) {
    headers = curl_slist_append(headers, ("Host: " + host).c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  }
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 10L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_NOBODY, head_only ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer.head);
  EXPECT_EQ(curl_easy_perform(curl), CURLE_OK) << url;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  return answer;
}

int Connect(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int rc =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return rc == 0 ? fd : -1;
}

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.listen = "127.0.0.1:0";
    options_.timeout_seconds = 1;
    daemon_.snapshot = SnapshotOf({SampleRun("team/a..b/../c")});
    auto server = WebServer::Start(options_, daemon_.Backend());
    ASSERT_TRUE(server.ok()) << server.error();
    server_ = std::move(*server);
  }
  std::string Url(const std::string& path) {
    return "http://" + server_->address() + path;
  }

  WebOptions options_;
  FakeDaemon daemon_;
  std::unique_ptr<WebServer> server_;
};

TEST_F(ServerTest, AnswersOnThePortItGot) {
  EXPECT_GT(server_->port(), 0);
  const Answer answer = Fetch(Url("/metrics"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("nanwatch_steps_total"));
  EXPECT_THAT(answer.head, HasSubstr("X-Content-Type-Options: nosniff"));
}

TEST_F(ServerTest, EncodedRunIdsArriveWhole) {
  const Answer answer =
      Fetch(Url("/api/v1/runs/team%2Fa..b%2F..%2Fc/attempts/0?"));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("team/a..b/../c"));
}

TEST_F(ServerTest, HeadHasTheLengthButNoBody) {
  const Answer get = Fetch(Url("/-/healthy"));
  const Answer head = Fetch(Url("/-/healthy"), "", true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_THAT(head.head,
              HasSubstr("Content-Length: " + std::to_string(get.body.size())));
}

TEST_F(ServerTest, ForeignHostsAreTurnedAway) {
  EXPECT_EQ(Fetch(Url("/metrics"), "evil.example").status, 403);
  EXPECT_EQ(Fetch(Url("/metrics"), "localhost:1").status, 200);
}

TEST_F(ServerTest, APathUpwardsFindsNothing) {
  EXPECT_EQ(Fetch(Url("/../../etc/passwd")).status, 404);
}

TEST_F(ServerTest, APortInUseIsASentenceWithTheAddress) {
  WebOptions options;
  options.listen = server_->address();
  const auto second = WebServer::Start(options, daemon_.Backend());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error(), HasSubstr(server_->address()));
  EXPECT_THAT(second.error(), HasSubstr("Address already in use"));
  EXPECT_THAT(second.error(), HasSubstr("web.listen"));
}

TEST_F(ServerTest, ManyAtOnceAreAllAnswered) {
  std::vector<std::thread> clients;
  std::vector<long> status(8);
  for (size_t i = 0; i < status.size(); ++i) {
    clients.emplace_back([&, i] {
      for (int n = 0; n < 5; ++n) status[i] = Fetch(Url("/metrics")).status;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(status, ::testing::Each(200));
}

// Twenty that begin a request and never end it are five times the threads.
TEST_F(ServerTest, HalfOpenConnectionsKeepNobodyWaiting) {
  std::vector<int> dawdlers;
  for (int i = 0; i < 20; ++i) {
    const int fd = Connect(server_->port());
    ASSERT_GE(fd, 0);
    ASSERT_EQ(send(fd, "GET /metr", 9, MSG_NOSIGNAL), 9);
    dawdlers.push_back(fd);
  }
  EXPECT_EQ(Fetch(Url("/metrics")).status, 200);
  // None of them was cut off to make room, and all are in the end.
  for (const int fd : dawdlers) {
    char byte = 0;
    EXPECT_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
  }
  for (const int fd : dawdlers) {
    std::string told;
    char bytes[512];
    ssize_t n = 0;
    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0) told.append(bytes, n);
    EXPECT_THAT(told, HasSubstr("408 Request Timeout"));
    close(fd);
  }
}

// What `fd` sends until `end` is in it.
std::string ReadUntil(int fd, const std::string& end) {
  std::string told;
  char byte = 0;
  while (told.find(end) == std::string::npos && recv(fd, &byte, 1, 0) == 1) {
    told += byte;
  }
  return told;
}

TEST_F(ServerTest, ListenersHaveTheirOwnPlacesAndNoMore) {
  const std::string ask = "GET /api/v1/events HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string own =
      "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
      "\r\n";
  std::vector<int> listeners;
  for (int i = 0; i < 24; ++i) {  // of 32: others find some
    const int fd = Connect(server_->port());
    ASSERT_GE(fd, 0);
    ASSERT_GT(send(fd, own.data(), own.size(), MSG_NOSIGNAL), 0);
    EXPECT_THAT(ReadUntil(fd, "retry: 3000\n\n"),
                HasSubstr("Content-Type: text/event-stream\r\n"));
    listeners.push_back(fd);
  }
  EXPECT_EQ(Fetch(Url("/api/v1/events")).status, 503);
  EXPECT_EQ(Fetch(Url("/metrics")).status, 200);
  EXPECT_EQ(Fetch(Url("/api/v1/runs")).status, 200);
  const int foreign = Connect(server_->port());
  send(foreign, ask.data(), ask.size(), MSG_NOSIGNAL);
  EXPECT_THAT(ReadUntil(foreign, "\r\n"), HasSubstr("403"));
  close(foreign);
  // All of them are let go at the end.
  server_->Stop();
  for (const int fd : listeners) {
    EXPECT_EQ(ReadUntil(fd, "never").find("never"), std::string::npos);
    close(fd);
  }
}

TEST_F(ServerTest, AnAnnotationIsReadWhole) {
  RunView run = SampleRun("a");
  run.incidents.emplace_back().id = 0xab;
  daemon_.snapshot = SnapshotOf({run});
  const std::string body =
      R"({"kind": "acknowledge", "incident": "ab", "by": "ann"})";
  const auto post = [&](const std::string& sent, size_t length) {
    const int fd = Connect(server_->port());
    const std::string ask =
        "POST /api/v1/runs/a/annotations HTTP/1.1\r\nHost: localhost:1\r\n"
        "Origin: http://localhost:1\r\nX-Nanwatch: annotate\r\n"
        "Content-Type: application/json\r\nContent-Length: " +
        std::to_string(length) + "\r\n\r\n" + sent;
    send(fd, ask.data(), ask.size(), MSG_NOSIGNAL);
    const std::string told = ReadUntil(fd, "\r\n");
    close(fd);
    return told;
  };
  EXPECT_THAT(post(body, body.size()), HasSubstr("200"));
  ASSERT_EQ(daemon_.said.size(), 1u);
  EXPECT_EQ(daemon_.said[0].second.by, "ann (unverified)");
  // Longer than is taken, and cut off in the middle.
  EXPECT_THAT(post(std::string(20000, ' ') + body, 20000 + body.size()),
              HasSubstr("400"));
  EXPECT_THAT(post(body.substr(0, 9), body.size()), HasSubstr("400"));
  EXPECT_EQ(daemon_.said.size(), 1u);
}

TEST_F(ServerTest, StopsAndGivesThePortBack) {
  WebOptions options;
  options.listen = server_->address();
  server_->Stop();
  const auto again = WebServer::Start(options, daemon_.Backend());
  EXPECT_TRUE(again.ok()) << again.error();
}

}  // namespace
}  // namespace nanwatch
