// Queries through the client that the command line uses.

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <span>
#include <thread>

#include "history/history.h"
#include "nanwatch/v1/query.grpc.pb.h"
#include "tests/unit/rpc/query_fixture.h"

namespace nanwatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class QueryTest : public QueryFixture {};

TEST_F(QueryTest, ListsRuns) {
  daemon_.Publish({View("job-7", 3), View("job-8", 4)});
  const auto answer = client_.ListRuns();
  ASSERT_TRUE(answer.ok()) << answer.error();
  ASSERT_EQ(answer->runs_size(), 2);
  EXPECT_EQ(answer->runs(1).run_id(), "job-8");
  EXPECT_EQ(answer->daemon(), "nanwatchd/test");
  EXPECT_EQ(answer->now_us(), ToMicros(daemon_.clock.Now()));
}

TEST_F(QueryTest, ShowsARunOrSaysThatThereIsNone) {
  daemon_.Publish({View("job-7", 3)});
  const auto run = client_.GetRun("job-7", {});
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run->summary().last_step(), 3);
  EXPECT_THAT(client_.GetRun("job-9", {}).error(),
              HasSubstr("there is no run job-9: `nanwatch runs` lists"));
  EXPECT_THAT(client_.GetRun("job-7", 5).error(),
              HasSubstr("there is no attempt 5 of run job-7"));
}

TEST_F(QueryTest, WatchesARunUntilItEnds) {
  daemon_.Publish({View("job-7", 1)});
  v1::WatchRunRequest request;
  request.set_run_id("job-7");
  request.set_interval_ms(50);
  std::vector<int64_t> steps;
  const Status watched =
      client_.WatchRun(request, [&](const v1::RunDetail& run) {
        steps.push_back(run.summary().last_step());
        RunView next = View("job-7", 2);
        next.ended = daemon_.clock.Now();
        daemon_.Publish({next});
        return true;
      });
  EXPECT_TRUE(watched.ok()) << watched.error();
  EXPECT_THAT(steps, testing::ElementsAre(1, 2));
}

TEST_F(QueryTest, StopsWatchingWhenAskedTo) {
  daemon_.Publish({View("job-7", 1)});
  v1::WatchRunRequest request;
  request.set_run_id("job-7");
  int shown = 0;
  EXPECT_TRUE(client_.WatchRun(request, [&](const v1::RunDetail&) {
    ++shown;
    return false;
  }));
  EXPECT_EQ(shown, 1);
}

TEST_F(QueryTest, EndsWatchersWhenTheDaemonStops) {
  daemon_.Publish({View("job-7", 1)});
  v1::WatchRunRequest request;
  request.set_run_id("job-7");
  request.set_interval_ms(60000);
  std::thread stopper;
  const Status watched = client_.WatchRun(request, [&](const v1::RunDetail&) {
    stopper =
        std::thread([&] { daemon_.server->Stop(std::chrono::seconds(5)); });
    return true;
  });
  stopper.join();
  EXPECT_FALSE(watched.ok());
}

TEST_F(QueryTest, PassesOnWhatAPersonSays) {
  RunView run = View("job-7", 3);
  run.incidents.emplace_back().id = 77;
  daemon_.Publish({run});
  v1::AnnotateRequest request;
  request.set_run_id("job-7");
  request.set_kind(v1::ANNOTATION_KIND_MUTE);
  request.set_incident(77);
  request.set_rule("scale_collapse");
  request.set_for_seconds(60);
  request.set_by("ann");
  request.set_reason("known");
  const Result<std::string> answer = client_.Annotate(request);
  ASSERT_TRUE(answer.ok()) << answer.error();
  EXPECT_EQ(*answer,
            "muted rule scale_collapse of incident 000000000000004d of run "
            "job-7 attempt 0 until 2023-11-14 22:14:20 UTC");
  ASSERT_EQ(daemon_.annotated.size(), 1u);
  EXPECT_EQ(daemon_.annotated[0].first, (RunKey{"job-7", 0}));
  const Annotation& said = daemon_.annotated[0].second;
  EXPECT_EQ(said.kind, Annotation::Kind::kMute);
  EXPECT_EQ(said.incident, 77u);
  EXPECT_EQ(said.rule, RuleId::kScaleCollapse);
  EXPECT_EQ(said.until, daemon_.clock.Now() + std::chrono::seconds(60));
  EXPECT_EQ(said.by, "ann (" + OwnAccount() + ")");
  EXPECT_EQ(said.reason, "known");
}

TEST_F(QueryTest, WhoSaysItIsWhatTheKernelSays) {
  daemon_.Publish({View("job-7", 3)});
  v1::AnnotateRequest request;
  request.set_run_id("job-7");
  request.set_kind(v1::ANNOTATION_KIND_ACKNOWLEDGE);
  ASSERT_TRUE(client_.Annotate(request).ok());
  EXPECT_EQ(daemon_.annotated.back().second.by, OwnAccount());
}

TEST_F(QueryTest, OverTcpNobodyIsKnownAndWhatIsOwnedIsLeftAlone) {
  daemon_.options_.tcp_address = "127.0.0.1:0";
  daemon_.options_.tcp_anonymous = true;
  daemon_.server.reset();
  daemon_.Start();
  RunView owned = View("job-7", 3);
  owned.description.owner = OwnAccount();
  daemon_.Publish({owned, View("job-8", 3)});
  QueryClient stranger(daemon_.server->addresses().at(1));
  v1::AnnotateRequest request;
  request.set_kind(v1::ANNOTATION_KIND_ACKNOWLEDGE);
  request.set_by("root");
  request.set_run_id("job-8");
  ASSERT_TRUE(stranger.Annotate(request).ok());
  EXPECT_EQ(daemon_.annotated.back().second.by, "root (unverified)");
  request.set_run_id("job-7");
  EXPECT_THAT(stranger.Annotate(request).error(),
              HasSubstr("belongs to " + OwnAccount()));
  EXPECT_EQ(daemon_.annotated.size(), 1u);
  EXPECT_TRUE(stranger.GetRun("job-7", {}).ok());
  EXPECT_TRUE(client_.Annotate(request).ok());
}

TEST_F(QueryTest, WhereOwnersReadOthersSeeNothing) {
  daemon_.options_.tcp_address = "127.0.0.1:0";
  daemon_.options_.tcp_anonymous = true;
  daemon_.options_.access.read_by_everyone = false;
  daemon_.server.reset();
  daemon_.Start();
  RunView owned = View("job-7", 3);
  owned.description.owner = OwnAccount();
  daemon_.Publish({owned, View("job-8", 3)});
  QueryClient stranger(daemon_.server->addresses().at(1));
  const auto theirs = stranger.ListRuns();
  ASSERT_TRUE(theirs.ok()) << theirs.error();
  ASSERT_EQ(theirs->runs_size(), 1);
  EXPECT_EQ(theirs->runs(0).run_id(), "job-8");
  EXPECT_THAT(stranger.GetRun("job-7", {}).error(), HasSubstr("belongs to"));
  v1::WatchRunRequest watch;
  watch.set_run_id("job-7");
  EXPECT_THAT(
      stranger.WatchRun(watch, [](const v1::RunDetail&) { return true; })
          .error(),
      HasSubstr("belongs to"));
  EXPECT_EQ(client_.ListRuns()->runs_size(), 2);
  EXPECT_TRUE(client_.GetRun("job-7", {}).ok());
}

TEST_F(QueryTest, SaysWhatCannotBeAnnotated) {
  daemon_.Publish({View("job-7", 3)});
  v1::AnnotateRequest request;
  request.set_run_id("job-7");
  EXPECT_THAT(client_.Annotate(request).error(), HasSubstr("say what to do"));
  request.set_kind(v1::ANNOTATION_KIND_MUTE);
  request.set_rule("no_rule");
  EXPECT_THAT(client_.Annotate(request).error(),
              HasSubstr("there is no rule no_rule"));
  request.clear_rule();
  request.set_incident(5);
  EXPECT_THAT(client_.Annotate(request).error(),
              HasSubstr("run job-7 has no incident 0000000000000005: "
                        "`nanwatch diagnose job-7` lists them"));
  request.clear_incident();
  request.set_for_seconds(-1);
  EXPECT_THAT(client_.Annotate(request).error(), HasSubstr("cannot mute"));
  EXPECT_TRUE(daemon_.annotated.empty());
}

TEST_F(QueryTest, StopsNobodyWhereNobodyIs) {
  RunView ended = View("done", 3);
  ended.state = LifeState::kClosed;
  RunView lost = View("lost", 3);
  lost.state = LifeState::kLost;
  daemon_.Publish({ended, lost});
  v1::AnnotateRequest request;
  request.set_kind(v1::ANNOTATION_KIND_STOP);
  request.set_reason("enough");
  request.set_run_id("done");
  EXPECT_EQ(client_.Annotate(request).error(),
            "run done attempt 0 has ended already");
  request.set_run_id("lost");
  EXPECT_THAT(client_.Annotate(request).error(),
              HasSubstr("no rank is connected"));
  EXPECT_TRUE(daemon_.annotated.empty());
}

class PastQueryTest : public testing::Test {
 protected:
  void SetUp() override {
    daemon_.backend.past_run =
        [](std::string_view id,
           std::optional<int32_t>) -> Result<std::shared_ptr<const RunView>> {
      if (id == "long") return Error{"run long is too long"};
      if (id != "old") return std::shared_ptr<const RunView>();
      RunView run = View("old", 42);
      run.ended = FromMicros(5);
      return std::make_shared<const RunView>(std::move(run));
    };
    daemon_.Start();
  }

  FakeDaemon daemon_;
  QueryClient client_{daemon_.address()};
};

TEST_F(PastQueryTest, ShowsARunThatHasLeft) {
  const auto run = client_.GetRun("old", {});
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run->summary().last_step(), 42);
  EXPECT_EQ(client_.GetRun("long", {}).error(), "run long is too long");
  EXPECT_THAT(client_.GetRun("none", {}).error(),
              HasSubstr("there is no run none"));
}

TEST_F(PastQueryTest, WatchesARunThatHasLeftOnce) {
  v1::WatchRunRequest request;
  request.set_run_id("old");
  int shown = 0;
  EXPECT_TRUE(client_.WatchRun(request, [&](const v1::RunDetail&) {
    ++shown;
    return true;
  }));
  EXPECT_EQ(shown, 1);
}

TEST_F(QueryTest, SaysThatHistoryIsOff) {
  daemon_.Publish({View("job-7", 3)});
  v1::GetStepsRequest steps;
  steps.set_run_id("job-7");
  EXPECT_THAT(client_.GetSteps(steps).error(), HasSubstr("keeps no history"));
  v1::ExportRunRequest request;
  request.set_run_id("job-7");
  const Status exported = client_.ExportRun(
      request, [](const v1::ExportRunResponse&) { return OkStatus(); });
  EXPECT_THAT(exported.error(), HasSubstr("keeps no history"));
}

// Who sees a run in the snapshot and asks for it gets it, though its events are
// not committed yet when he does.
TEST(ExportTest, WaitsForWhatIsShown) {
  FakeDaemon daemon;
  HistoryOptions options;
  options.path = daemon.dir / "history.db";
  options.own_thread = false;
  OpenReport report;
  auto history = History::Open(options, daemon.clock, &report);
  ASSERT_TRUE(history.ok()) << history.error();
  Event opened;
  opened.run = {"job-7", 0};
  opened.body = RunOpened{};
  ASSERT_TRUE((*history)->Append(daemon.clock.Now(), std::span(&opened, 1)));
  daemon.backend.history_path = options.path;
  daemon.backend.wait_until_stored = [&] { (*history)->RunOnce(Duration(0)); };
  daemon.Publish({View("job-7", 3)});
  daemon.Start();

  QueryClient client(daemon.address());
  v1::ExportRunRequest request;
  request.set_run_id("job-7");
  int events = 0;
  const Status exported =
      client.ExportRun(request, [&](const v1::ExportRunResponse&) {
        ++events;
        return OkStatus();
      });
  ASSERT_TRUE(exported.ok()) << exported.error();
  EXPECT_EQ(events, 1);
}

// Root may do everything: for the time of a test it is nobody.
class NotRoot {
 public:
  NotRoot() {
    if (before_ == 0 && seteuid(65534) != 0) std::abort();
  }
  ~NotRoot() {
    if (before_ == 0 && seteuid(0) != 0) std::abort();
  }

 private:
  const uid_t before_ = geteuid();
};

TEST(QueryClientTest, SaysThatTheSocketIsForbidden) {
  const TempDir dir;
  const std::string path = dir / "shut.sock";
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  ASSERT_EQ(chmod((dir / "").c_str(), 0755), 0);
  QueryClient client("unix:" + path);
  {
    const NotRoot nobody;
    EXPECT_THAT(
        client.ListRuns().error(),
        AllOf(HasSubstr("permission denied: the daemon's socket " + path +
                        " has mode 0400 and group "),
              Not(HasSubstr("usermod")), HasSubstr("ingest.socket_mode")));
  }
  if (geteuid() == 0) {  // who else gives files away
    ASSERT_EQ(chown(path.c_str(), 0, 1), 0);
    ASSERT_EQ(chmod(path.c_str(), 0660), 0);
    const NotRoot nobody;
    EXPECT_THAT(client.ListRuns().error(), HasSubstr("usermod -aG daemon "));
  }
  ASSERT_EQ(chmod((dir / "").c_str(), 0), 0);
  {
    const NotRoot nobody;
    EXPECT_THAT(client.ListRuns().error(),
                HasSubstr("permission denied: the folder /tmp/nanwatch-rpc-"));
  }
  ASSERT_EQ(chmod((dir / "").c_str(), 0700), 0);
  close(fd);
}

TEST(QueryClientTest, SaysThatNoDaemonListens) {
  const TempDir dir;
  QueryClient client("unix:" + (dir / "none"));
  EXPECT_EQ(client.ListRuns().error(),
            "no daemon listens at unix:" + (dir / "none") +
                ": start nanwatchd, or pass --address");
}

}  // namespace
}  // namespace nanwatch
