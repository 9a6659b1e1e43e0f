// Two runs of a real history side by side.

#include "app/run_comparisons.h"

#include <nlohmann/json.hpp>

#include "json/value.h"
#include "model/limits.h"
#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

class RunComparisonsTest : public HistoryFixture {
 protected:
  // An attempt of one rank; its losses are `times` those of the others.
  void PutRun(const RunKey& run, int steps, double times = 1) {
    RankOpened rank;
    rank.rank.rank = 0;
    Put(Opened(run));
    Put(EventOf(run, rank, 0));
    Event event = Steps(run, 0, steps);
    auto& columns = std::get<StepBatch>(event.body).columns;
    for (double& loss :
         columns.field[static_cast<int>(StepField::kLoss)]->values) {
      loss *= times;
    }
    Put(event);
    Put(EventOf(run, RankClosed{}, 0));
    Put(EventOf(run, RunClosed{"all ranks closed"}));
    Commit();
  }
};

TEST_F(RunComparisonsTest, SaysWhatTheCommandSays) {
  PutRun({"a", 0}, 60);
  PutRun({"b", 2}, 60, 1.5);
  RunComparisons comparisons(options_.path);
  const ComparisonReply reply = comparisons.Compare({"a", 0}, {"b", 2});
  ASSERT_EQ(reply.status, 200) << reply.what;
  const Json json = Json::parse(reply.json);
  EXPECT_EQ(json["a"]["run"], "a");
  EXPECT_EQ(json["b"]["attempt"], 2);
  EXPECT_EQ(json["loss"]["steps"], 60);
  EXPECT_EQ(json["loss"]["first_step"], 0);
  EXPECT_EQ(json["severity"], "warning");
  EXPECT_FALSE(json["says"]["headline"].get<std::string>().empty());
  EXPECT_TRUE(json["map"]["tensors"].empty());
}

TEST_F(RunComparisonsTest, ARunAgreesWithItself) {
  PutRun({"a", 0}, 60);
  RunComparisons comparisons(options_.path);
  const ComparisonReply reply = comparisons.Compare({"a", 0}, {"a", 0});
  ASSERT_EQ(reply.status, 200) << reply.what;
  const Json json = Json::parse(reply.json);
  EXPECT_EQ(json["severity"], "none");
  EXPECT_TRUE(json["settings"].empty());
}

TEST_F(RunComparisonsTest, RunsThatAreTooLongAreNotHeld) {
  const int batch = 4096;
  const RunKey run{"long", 0};
  RankOpened rank;
  rank.rank.rank = 0;
  Put(Opened(run));
  Put(EventOf(run, rank, 0));
  for (size_t step = 0; step <= limits::kComparedHeld / 2; step += batch) {
    Put(Steps(run, static_cast<int64_t>(step), batch));
    Commit();
  }
  RunComparisons comparisons(options_.path);
  const ComparisonReply reply = comparisons.Compare(run, run);
  EXPECT_EQ(reply.status, 413);
  EXPECT_THAT(reply.todo, HasSubstr("nanwatch compare long@0"));
  PutRun({"short", 0}, 60);
  EXPECT_EQ(comparisons.Compare({"short", 0}, {"short", 0}).status, 200)
      << "the place is free again";
}

TEST_F(RunComparisonsTest, AHistoryThatCannotBeReadIsSaid) {
  RunComparisons comparisons(options_.path + ".none");
  EXPECT_EQ(comparisons.Compare({"a", 0}, {"a", 0}).status, 503);
}

}  // namespace
}  // namespace nanwatch
