#include "relay/forwards.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/unit/engine/driver.h"
#include "wire/event_codec.h"
#include "wire/parse.h"

namespace nanwatch {
namespace {

// A daemon's history as the daemon upstream hears it.
class Upstream {
 public:
  void Hear(const Driver& relay) {
    std::deque<Forward> queue;
    for (; heard_ < relay.history().size(); ++heard_) {
      StampedEvent stamped = relay.history()[heard_];
      stamped.id = heard_ + 1;
      forwards_.Take(stamped, &queue);
    }
    for (Forward& one : queue) Say(&one);
  }
  Driver& driver() { return driver_; }
  const Forwards& forwards() const { return forwards_; }

 private:
  void Say(Forward* one) {
    if (one->kind == Forward::Kind::kRunOver) return;
    v1::IngestRequest& request = one->request;
    if (request.has_open()) request.mutable_open()->set_session(one->session);
    if (request.has_lost()) request.mutable_lost()->set_session(one->session);
    if (request.has_steps()) request.mutable_steps()->set_session(one->session);
    if (request.has_ops()) request.mutable_ops()->set_session(one->session);
    if (request.has_close()) request.mutable_close()->set_session(one->session);
    if (request.has_dropped()) {
      request.mutable_dropped()->set_session(one->session);
    }
    if (request.has_op_names()) {
      request.mutable_op_names()->set_session(one->session);
    }
    Parsed parsed = Parse(request, nullptr, /*relayed=*/true);
    ASSERT_FALSE(parsed.refused) << parsed.refused->message;
    const Admitted admitted = driver_.Send(std::move(parsed.message));
    ASSERT_FALSE(admitted.refused) << admitted.refused->message;
  }

  Driver driver_;
  Forwards forwards_;
  size_t heard_ = 0;
};

// What identifies the events, without what admission adds to an opening.
std::vector<std::string> Said(const Driver& driver) {
  std::vector<std::string> said;
  for (const StampedEvent& stamped : driver.history()) {
    Event event = stamped.event;
    if (event.run.run_id.empty()) continue;
    if (auto* opened = std::get_if<RankOpened>(&event.body)) {
      opened->clock_skew_us = 0;
    }
    // As it is read again: a bitmap without a bit is none.
    std::string bytes;
    EncodeEvent(event, &bytes);
    EncodeEvent(*DecodeEvent(bytes), &bytes);
    said.push_back(bytes);
  }
  return said;
}

TEST(ForwardsTest, TheUpstreamMakesTheSameEvents) {
  Driver relay;
  Upstream upstream;
  const SessionId r0 = relay.Open("job", 0, 2);
  const SessionId r1 = relay.Open("job", 1, 2);
  relay.Name(r0, {{.name = "fc1"}, {.name = "fc2"}});
  relay.Steps(r0, {{.step = 1, .loss = 2.0}, {.step = 2, .loss = 1.0}});
  relay.Ops(r0, {{.step = 3, .op = 1, .nan = 4}});
  upstream.Hear(relay);
  relay.Steps(r0, {{.step = 3, .loss = 2.0}});
  relay.Steps(r1, {{.step = 1, .loss = 2.0}});
  relay.Lose(r1);
  relay.Close(r0, ProgramEnd{.type = "ValueError", .message = "bad label"});
  upstream.Hear(relay);
  EXPECT_EQ(Said(upstream.driver()), Said(relay));
  EXPECT_EQ(upstream.forwards().unfinished(), 0u);
}

TEST(ForwardsTest, ABatchThatWasSplitIsOneAgain) {
  Driver relay;
  Upstream upstream;
  const SessionId s = relay.Open("job");
  relay.Name(s, {{.name = "fc1"}});
  relay.Steps(s, {{.step = 10}, {.step = 11}, {.step = 5}, {.step = 6}});
  relay.Steps(s, {{.step = 2}});
  relay.Close(s);
  upstream.Hear(relay);
  EXPECT_EQ(Said(upstream.driver()), Said(relay));
  EXPECT_EQ(upstream.driver().Run("job", 0)->last_step, 11);
  EXPECT_EQ(upstream.driver().Run("job", 2)->last_step, 2);
}

// Whatever a job does, at whatever moments the relay reads.
TEST(ForwardsTest, GeneratedJobs) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::minstd_rand random(seed + 1);
    Driver relay;
    Upstream upstream;
    std::vector<std::pair<SessionId, int64_t>> open;
    for (int32_t rank = 0; rank < 3; ++rank) {
      open.emplace_back(relay.Open("job", rank, 3), 0);
    }
    for (int turn = 0; turn < 60 && !open.empty(); ++turn) {
      const size_t whose = random() % open.size();
      auto& [session, step] = open[whose];
      const unsigned what = random() % 24;
      if (what == 0) {
        relay.Lose(session);
        open.erase(open.begin() + static_cast<int64_t>(whose));
      } else if (what == 1) {
        relay.Close(session);
        open.erase(open.begin() + static_cast<int64_t>(whose));
      } else if (what < 8) {
        upstream.Hear(relay);
      } else {
        std::vector<Row> rows;
        for (unsigned i = random() % 4 + 1; i > 0; --i) {
          if (random() % 16 == 0) step = std::max<int64_t>(0, step - 3);
          rows.push_back({.step = step++, .scale = 8.0, .loss = 1.0});
        }
        relay.Steps(session, rows);
      }
    }
    upstream.Hear(relay);
    ASSERT_EQ(Said(upstream.driver()), Said(relay)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nanwatch
