// What a run is to be compared with, as callers say it.

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "tests/unit/rpc/query_fixture.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

class BenchTest : public QueryFixture {};

TEST_F(BenchTest, ABenchmarkIsTakenWholeOrNotAtAll) {
  daemon_.Publish({View("job-7", 3)});
  v1::SetBenchmarkRequest request;
  request.set_run_id("job-7");
  request.set_reference("base@0");
  for (int i = 0; i < 100; ++i) {
    request.add_steps(10 * i);
    request.add_losses(i == 3 ? NAN : 2.5);
  }
  const Result<std::string> answer = client_.SetBenchmark(request);
  ASSERT_TRUE(answer.ok()) << answer.error();
  EXPECT_EQ(*answer,
            "run job-7 attempt 0 is compared with base@0: 100 losses of steps "
            "0 to 990");
  ASSERT_EQ(daemon_.benchmarks.size(), 1u);
  EXPECT_EQ(daemon_.benchmarks[0].first, (RunKey{"job-7", 0}));
  const BenchmarkSet& set = daemon_.benchmarks[0].second;
  EXPECT_EQ(set.by, OwnAccount());
  ASSERT_EQ(set.benchmark->points.size(), 100u);
  EXPECT_EQ(set.benchmark->points[99].step, 990);
  EXPECT_TRUE(std::isnan(set.benchmark->points[3].loss));

  request.add_steps(5);
  EXPECT_THAT(client_.SetBenchmark(request).error(), HasSubstr("101 steps"));
  request.add_losses(1);
  EXPECT_THAT(client_.SetBenchmark(request).error(), HasSubstr("do not rise"));
  request.clear_steps();
  request.clear_losses();
  ASSERT_TRUE(client_.SetBenchmark(request).ok());
  EXPECT_EQ(daemon_.benchmarks.back().second.benchmark, nullptr);
  EXPECT_EQ(daemon_.benchmarks.size(), 2u);
}

TEST_F(BenchTest, ABenchmarkIsTheOwnersToSet) {
  RunView owned = View("job-7", 3);
  owned.description.owner = "somebody else";
  RunView ended = View("job-8", 3);
  ended.state = LifeState::kClosed;
  daemon_.options_.tcp_address = "127.0.0.1:0";
  daemon_.options_.tcp_anonymous = true;
  daemon_.server.reset();
  daemon_.Start();
  daemon_.Publish({owned, ended});
  QueryClient stranger(daemon_.server->addresses().at(1));
  v1::SetBenchmarkRequest request;
  request.set_run_id("job-7");
  EXPECT_THAT(stranger.SetBenchmark(request).error(),
              HasSubstr("belongs to somebody else"));
  request.set_run_id("job-8");
  EXPECT_THAT(stranger.SetBenchmark(request).error(),
              HasSubstr("nanwatch compare"));
  EXPECT_TRUE(daemon_.benchmarks.empty());
}

}  // namespace
}  // namespace nanwatch
