#include "web/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nanwatch {
namespace {

const Asker kAnn{"ann", 100};
const Asker kBob{"bob", 100};

TEST(TurnsTest, OneUserLeavesAQuarterToOthers) {
  Turns turns(4, 10);
  const auto first = turns.Try(kAnn);
  const auto second = turns.Try(kAnn);
  const auto third = turns.Try(kAnn);
  EXPECT_TRUE(first && second && third);
  EXPECT_FALSE(turns.Try(kAnn));
  {
    const auto his = turns.Try(kBob);
    EXPECT_TRUE(his);
    EXPECT_FALSE(turns.Try({"eve", 100})) << "all are taken";
  }
  EXPECT_TRUE(turns.Try(kBob)) << "it came back";
}

TEST(TurnsTest, AQuotaIsHisOwn) {
  Turns turns(4, 10);
  const Asker little{"ann", 1};
  const auto first = turns.Wait(little);
  EXPECT_TRUE(first);
  EXPECT_FALSE(turns.Try(little));
  EXPECT_TRUE(turns.Try(kBob));
}

// Waits in a thread of its own, and says when it was served.
class Client {
 public:
  Client(Turns& turns, const Asker& asker, std::vector<std::string>* served)
      : thread_([this, &turns, asker, served] {
          const auto turn = turns.Wait(asker);
          refused_ = !turn;
          static std::mutex mutex;
          const std::lock_guard<std::mutex> lock(mutex);
          if (turn) served->push_back(asker.name);
        }) {}
  ~Client() { thread_.join(); }
  bool refused() const { return refused_; }

 private:
  std::atomic<bool> refused_{false};
  std::thread thread_;
};

TEST(TurnsTest, WhoHasWaitedLongestForATurnIsNext) {
  Turns turns(1, 10);
  std::vector<std::string> served;
  {
    std::vector<std::unique_ptr<Client>> clients;
    const auto held = turns.Wait(kAnn);
    for (int i = 0; i < 5; ++i) {
      clients.push_back(std::make_unique<Client>(turns, kAnn, &served));
    }
    while (turns.waiting() < 5) std::this_thread::yield();
    clients.push_back(std::make_unique<Client>(turns, kBob, &served));
    while (turns.waiting() < 6) std::this_thread::yield();
  }
  ASSERT_EQ(served.size(), 6u);
  EXPECT_EQ(served[0], "bob") << "he came last";
}

TEST(TurnsTest, WhoHasTooManyHereIsRefusedAndOthersAreNot) {
  Turns turns(1, 3);
  std::vector<std::string> served;
  {
    std::vector<std::unique_ptr<Client>> clients;
    const auto held = turns.Wait(kAnn);
    for (int i = 0; i < 2; ++i) {
      clients.push_back(std::make_unique<Client>(turns, kAnn, &served));
    }
    while (turns.waiting() < 2) std::this_thread::yield();
    EXPECT_FALSE(turns.Wait(kAnn));
    clients.push_back(std::make_unique<Client>(turns, kBob, &served));
    while (turns.waiting() < 3) std::this_thread::yield();
  }
  EXPECT_EQ(served.size(), 3u);
}

}  // namespace
}  // namespace nanwatch
