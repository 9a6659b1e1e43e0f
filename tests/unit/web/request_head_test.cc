#include "web/request_head.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

const std::string kFirst = "GET /a?b=c HTTP/1.1\r\n";

TEST(RequestHead, IsReadInItsParts) {
  const auto head = ParseRequestHead(
      "GET /a%2F?b=%20&c HTTP/1.1\r\nHost: gpu7:9765\r\n"
      "X-Nanwatch:annotate\t\r\nContent-Length: 7\r\nEmpty:\r\n\r\n");
  ASSERT_TRUE(head.ok()) << head.error();
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->path, "/a%2F");
  EXPECT_EQ(head->query, "b=%20&c");
  EXPECT_EQ(head->Header("host"), "gpu7:9765");
  EXPECT_EQ(head->Header("x-nanwatch"), "annotate");
  EXPECT_EQ(head->Header("empty"), "");
  EXPECT_EQ(head->length, 7u);
}

TEST(RequestHead, EndsWithAnEmptyLine) {
  EXPECT_EQ(EndOfHead("GET / HTTP/1.1\r\n\r\nbody"), 18u);
  EXPECT_EQ(EndOfHead("GET / HTTP/1.1\n\nbody"), 16u);
  EXPECT_EQ(EndOfHead("GET / HTTP/1.1\r\nHost: a\r\n\r"), std::string::npos);
}

TEST(RequestHead, WhatIsNoRequestIsRefused) {
  for (const char* first :
       {"", "GET", "GET /", "GET / HTTP/2.0", "GET / HTTP/0.9",
        "GET a HTTP/1.1", "GET http://a/ HTTP/1.1", " / HTTP/1.1",
        "G\x01T / HTTP/1.1", "GET /\x7f HTTP/1.1", "GET /a b HTTP/1.1",
        "GET /\xc3\xa4 HTTP/1.1"}) {
    EXPECT_FALSE(ParseRequestHead(std::string(first) + "\r\n\r\n").ok())
        << first;
  }
}

// What two readers would read in two ways, or a log would show as another line.
TEST(RequestHead, HeadersAreReadInOneWayOnly) {
  for (const char* lines :
       {"no colon\r\n", "Host : a\r\n", ": a\r\n", "Host: a\r\n b\r\n",
        "Host: a\rSet: b\r\n", "X: \x1b[31m\r\n", "Host: a\r\nhost: b\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: -1\r\n",
        "Content-Length: 5x\r\n", "Content-Length: 99999999999999999999\r\n",
        "Authorization: Basic YQ==\r\nAuthorization: Basic Yg==\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"}) {
    EXPECT_FALSE(ParseRequestHead(kFirst + lines + "\r\n").ok()) << lines;
  }
  const std::string zero("X: a\0b\r\n", 8);
  EXPECT_FALSE(ParseRequestHead(kFirst + zero + "\r\n").ok());
}

TEST(RequestHead, HeadersAreBounded) {
  std::string many = kFirst;
  for (int i = 0; i < 64; ++i) many += "X: a\r\n";
  EXPECT_TRUE(ParseRequestHead(many + "\r\n").ok());
  many += "X: a\r\n";
  EXPECT_THAT(ParseRequestHead(many + "\r\n").error(), HasSubstr("64"));
}

}  // namespace
}  // namespace nanwatch
