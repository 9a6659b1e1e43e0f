#include <gmock/gmock.h>

#include "json/value.h"
#include "tests/unit/web/fake_backend.h"
#include "web/annotation_request.h"
#include "web/site.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

class AnnotationTest : public ::testing::Test {
 protected:
  AnnotationTest() {
    run_.key.attempt = 2;
    run_.incidents.emplace_back().id = 0xfedcba9876543210;
    daemon_.snapshot = SnapshotOf({run_});
    // As the page sends it.
    request_.method = "POST";
    request_.path = "/api/v1/runs/team%2Fa/attempts/2/annotations";
    request_.host = "localhost:9765";
    request_.origin = "http://localhost:9765";
    request_.content_type = "application/json";
    request_.fetch_site = "same-origin";
    request_.purpose = "annotate";
    request_.remote = "127.0.0.1";
    request_.local_number = "uid 997";
    body_ = {{"kind", "mute"},
             {"incident", "fedcba9876543210"},
             {"for_seconds", 3600},
             {"by", "ann"},
             {"reason", "known"}};
  }
  HttpReply Send() {
    if (request_.body.empty()) request_.body = Dump(body_);
    WebBackend backend = daemon_.Backend();
    backend.speaks_as = {"nanwatch", "uid 997", false};
    Site site(std::move(backend), {});
    return site.Answer(request_);
  }
  HttpReply SendOfRunOf(const std::string& owner) {
    run_.description.owner = owner;
    daemon_.snapshot = SnapshotOf({run_});
    return Send();
  }

  RunView run_ = SampleRun("team/a");
  FakeDaemon daemon_;
  HttpRequest request_;
  Json body_;
};

TEST_F(AnnotationTest, BecomesAnEventOfTheRun) {
  const HttpReply reply = Send();
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("ann (unverified)"));
  ASSERT_EQ(daemon_.said.size(), 1u);
  const auto& [run, said] = daemon_.said[0];
  EXPECT_EQ(run.run_id, "team/a");
  EXPECT_EQ(run.attempt, 2);
  EXPECT_EQ(said.kind, Annotation::Kind::kMute);
  EXPECT_EQ(said.incident, 0xfedcba9876543210);
  EXPECT_EQ(said.until, daemon_.now + std::chrono::hours(1));
  EXPECT_EQ(said.by, "ann (unverified)");
  EXPECT_EQ(said.reason, "known");
}

TEST_F(AnnotationTest, AMuteWithoutAnEndAndAnAcknowledgement) {
  body_["for_seconds"] = 0;
  EXPECT_EQ(Send().status, 200);
  EXPECT_EQ(daemon_.said.at(0).second.until, Time{});
  request_.body = R"({"kind": "acknowledge", "incident": "fedcba9876543210"})";
  EXPECT_EQ(Send().status, 200);
  EXPECT_EQ(daemon_.said.at(1).second.kind, Annotation::Kind::kAcknowledge);
  EXPECT_EQ(daemon_.said.at(1).second.by, "somebody (unverified)");
}

TEST_F(AnnotationTest, ARunOfAnotherUserIsLeftAlone) {
  const HttpReply reply = SendOfRunOf("bob");
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(reply.body, HasSubstr("belongs to bob"));
  EXPECT_TRUE(daemon_.said.empty());
  EXPECT_EQ(SendOfRunOf("nanwatch").status, 200);
  EXPECT_EQ(SendOfRunOf("").status, 200);
}

TEST_F(AnnotationTest, ForeignPagesAreRefused) {
  const HttpRequest page = request_;
  for (const auto& [field, value] :
       {std::pair(&HttpRequest::origin, "http://evil.example"),
        std::pair(&HttpRequest::origin, "null"),
        std::pair(&HttpRequest::origin, "http://localhost:80"),
        std::pair(&HttpRequest::fetch_site, "cross-site"),
        std::pair(&HttpRequest::fetch_site, "same-site"),
        std::pair(&HttpRequest::purpose, ""),
        std::pair(&HttpRequest::host, "evil.example")}) {
    request_ = page;
    request_.*field = value;
    EXPECT_EQ(Send().status, 403) << value;
  }
  request_ = page;
  request_.content_type = "text/plain";
  EXPECT_EQ(Send().status, 415);
  EXPECT_TRUE(daemon_.said.empty());
}

// The port is everybody's; the kernel says whose program sent it.
TEST_F(AnnotationTest, ARunOfTheDaemonsUserIsHisAlone) {
  EXPECT_EQ(SendOfRunOf("nanwatch").status, 200);
  for (const char* other : {"", "uid 0", "uid 1000"}) {
    request_.local_number = other;
    EXPECT_EQ(SendOfRunOf("nanwatch").status, 403) << other;
    EXPECT_EQ(SendOfRunOf("").status, 200) << "nobody owns it";
  }
}

TEST_F(AnnotationTest, OtherMachinesAreRefused) {
  request_.remote = "10.1.2.3";
  const HttpReply reply = Send();
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(reply.body, HasSubstr("nanwatch mute"));
  WebBackend deaf = daemon_.Backend();
  deaf.annotate = nullptr;
  EXPECT_FALSE(MayAnnotate(daemon_.Backend(), request_));
  request_.remote = "127.0.0.1";
  EXPECT_TRUE(MayAnnotate(daemon_.Backend(), request_));
  EXPECT_FALSE(MayAnnotate(deaf, request_));
  EXPECT_EQ(AnswerAnnotation(deaf, request_, "team/a", 2).status, 503);
}

// From wherever he calls, and under his own name.
TEST_F(AnnotationTest, WhoSaidWhoHeIsChangesWhatIsHis) {
  request_.remote = "10.1.2.3";
  request_.caller = {"bob", "bob", false};
  EXPECT_THAT(SendOfRunOf("").body, HasSubstr("ann (bob)"));
  EXPECT_EQ(SendOfRunOf("bob").status, 200);
  const HttpReply refused = SendOfRunOf("ann");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("you are bob"));
  // Not what the daemon's own user may.
  EXPECT_EQ(SendOfRunOf("nanwatch").status, 403);
  request_.caller->admin = true;
  EXPECT_EQ(SendOfRunOf("ann").status, 200);
  EXPECT_EQ(daemon_.said.size(), 3u);
}

TEST_F(AnnotationTest, WhatCannotBeReadIsTold) {
  const Json good = body_;
  for (const auto& [key, value, told] :
       std::vector<std::tuple<std::string, Json, std::string>>{
           {"kind", "stop", "The key kind"},
           {"kind", nullptr, "The key kind"},
           {"incident", "", "The key incident"},
           {"incident", "0000000000000001", "The key incident"},
           {"incident", "xyz", "The key incident"},
           {"for_seconds", -1, "The key for_seconds"},
           {"for_seconds", 1.5, "The key for_seconds"},
           {"for_seconds", 1e30, "The key for_seconds"},
           {"for_seconds", UINT64_MAX, "The key for_seconds"},
           {"by", 7, "The key by"},
           {"reason", std::string(1025, 'x'), "The key reason"},
           {"resaon", "known", "The key resaon is not known"}}) {
    body_ = good;
    body_[key] = value;
    request_.body.clear();
    const HttpReply reply = Send();
    EXPECT_EQ(reply.status, 400) << key;
    EXPECT_THAT(reply.body, HasSubstr(told));
  }
  for (const char* body : {"", "[]", "7", "{", "\"\xff\""}) {
    request_.body = body;
    if (request_.body.empty()) request_.body = " ";
    EXPECT_EQ(Send().status, 400) << body;
  }
  EXPECT_TRUE(daemon_.said.empty());
}

TEST_F(AnnotationTest, AreOfARunThatIsThere) {
  request_.path = "/api/v1/runs/other/annotations";
  EXPECT_EQ(Send().status, 404);
  request_.method = "GET";
  EXPECT_EQ(Send().status, 404);
  request_.method = "PUT";
  EXPECT_EQ(Send().status, 405);
}

}  // namespace
}  // namespace nanwatch
