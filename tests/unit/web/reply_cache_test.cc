#include "web/reply_cache.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nanwatch {
namespace {

const Time kNow = FromMicros(1700000000000000);
constexpr Duration kAge = std::chrono::milliseconds(900);

class ReplyCacheTest : public ::testing::Test {
 protected:
  std::string Get(const std::string& key, Time now) {
    return cache_.Get(key, now, kAge, [this] { return Make(); }).body;
  }
  HttpReply Make() {
    HttpReply reply;
    reply.status = status_;
    reply.body = std::to_string(++made_) + std::string(padding_, ' ');
    return reply;
  }

  ReplyCache cache_;
  std::atomic<int> made_{0};
  int status_ = 200;
  size_t padding_ = 0;
};

TEST_F(ReplyCacheTest, IsSharedForAWhile) {
  EXPECT_EQ(Get("a", kNow), "1");
  EXPECT_EQ(Get("a", kNow + kAge), "1");
  EXPECT_EQ(Get("b", kNow), "2");
  EXPECT_EQ(Get("a", kNow + kAge + Duration(1)), "3");
  // A clock that was set back.
  EXPECT_EQ(Get("a", kNow - kAge), "4");
}

TEST_F(ReplyCacheTest, ErrorsAndLargeRepliesAreNot) {
  status_ = 503;
  EXPECT_EQ(Get("a", kNow), "1");
  EXPECT_EQ(Get("a", kNow), "2");
  status_ = 200;
  padding_ = 2 << 20;
  Get("a", kNow);
  Get("a", kNow);
  EXPECT_EQ(made_, 4);
}

TEST_F(ReplyCacheTest, OneThatCouldNotBeMadeIsMadeAgain) {
  EXPECT_THROW(cache_.Get("a", kNow, kAge,
                          []() -> HttpReply { throw std::runtime_error("x"); }),
               std::runtime_error);
  EXPECT_EQ(Get("a", kNow), "1");
}

TEST_F(ReplyCacheTest, ManyKeysAreForgotten) {
  for (int i = 0; i < 1000; ++i) Get(std::to_string(i), kNow);
  EXPECT_EQ(made_, 1000);
}

TEST_F(ReplyCacheTest, OfThoseThatAskAtOnceOneMakesIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] { EXPECT_EQ(Get("a", kNow), "1"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made_, 1);
}

}  // namespace
}  // namespace nanwatch
