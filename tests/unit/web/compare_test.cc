// What HTTP says of two runs side by side, and to whom.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/web/fake_backend.h"
#include "web/site.h"

namespace nanwatch {
namespace {

class CompareTwoRuns : public ::testing::Test {
 protected:
  CompareTwoRuns() {
    RunView mine = SampleRun("mine");
    mine.description.owner = "ann";
    RunView theirs = SampleRun("theirs");
    theirs.description.owner = "bob";
    RunView other = SampleRun("other");
    other.description.owner = "ann";
    daemon_.snapshot = SnapshotOf({mine, theirs, other});
    RunRow ended;
    ended.key = {"ended", 3};
    ended.description.owner = "ann";
    daemon_.history.runs = {ended};
  }

  HttpReply Get(const std::string& run, const std::string& query) {
    WebBackend backend = daemon_.Backend();
    if (comparing_) {
      backend.compare = [this](const RunKey& a, const RunKey& b) {
        compared_.emplace_back(a, b);
        return reply_;
      };
    }
    backend.read_by_everyone = [this] { return everyone_; };
    Site site(std::move(backend), {});
    HttpRequest request;
    request.method = "GET";
    request.path = "/api/v1/runs/" + run + "/compare";
    request.query = query;
    request.caller = Caller{"ann", "ann", false, ""};
    return site.Answer(request);
  }

  FakeDaemon daemon_;
  ComparisonReply reply_{200, "", "", R"({"comparable":true})"};
  std::vector<std::pair<RunKey, RunKey>> compared_;
  bool comparing_ = true;
  bool everyone_ = false;
};

TEST_F(CompareTwoRuns, TheOneNamedIsTheFirst) {
  const HttpReply reply = Get("mine", "with=other");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(nlohmann::json::parse(reply.body)["comparable"], true);
  ASSERT_EQ(compared_.size(), 1u);
  EXPECT_EQ(compared_[0].first.run_id, "other");
  EXPECT_EQ(compared_[0].second.run_id, "mine");
}

TEST_F(CompareTwoRuns, OneOfThemMayHaveEnded) {
  EXPECT_EQ(Get("mine", "with=ended&with_attempt=3").status, 200);
  EXPECT_EQ(Get("ended/attempts/3", "with=mine").status, 200);
  EXPECT_EQ(Get("mine", "with=ended&with_attempt=4").status, 404);
  ASSERT_EQ(compared_.size(), 2u);
  EXPECT_EQ(compared_[0].first, (RunKey{"ended", 3}));
  EXPECT_EQ(compared_[1].second, (RunKey{"ended", 3}));
}

TEST_F(CompareTwoRuns, ARunOfAnotherIsNoRunOfEitherSide) {
  EXPECT_EQ(Get("mine", "with=theirs").status, 404);
  EXPECT_EQ(Get("theirs", "with=mine").status, 404);
  daemon_.history.runs[0].description.owner = "bob";
  EXPECT_EQ(Get("mine", "with=ended").status, 404);
  EXPECT_TRUE(compared_.empty()) << "it was read";
  everyone_ = true;
  EXPECT_EQ(Get("mine", "with=theirs").status, 200);
}

TEST_F(CompareTwoRuns, WhatCannotBeReadIsSaid) {
  EXPECT_EQ(Get("mine", "").status, 400);
  EXPECT_EQ(Get("mine", "with=").status, 400);
  EXPECT_EQ(Get("mine", "with=other&with_attempt=-1").status, 400);
  EXPECT_EQ(Get("mine", "with=other&rank=1").status, 400);
  EXPECT_EQ(Get("mine", "with=none").status, 404);
  EXPECT_EQ(Get("none", "with=mine").status, 404);
  EXPECT_TRUE(compared_.empty());
}

TEST_F(CompareTwoRuns, WhyTheyAreNotComparedIsSaid) {
  reply_ = {413, "They are too long.", "Use the command.", ""};
  const HttpReply reply = Get("mine", "with=other");
  EXPECT_EQ(reply.status, 413);
  const auto error = nlohmann::json::parse(reply.body)["error"];
  EXPECT_EQ(error["what"], reply_.what);
  EXPECT_EQ(error["do"], reply_.todo);
  comparing_ = false;
  EXPECT_EQ(Get("mine", "with=other").status, 503) << "the history is off";
}

}  // namespace
}  // namespace nanwatch
