#include "web/site.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/unit/web/fake_backend.h"
#include "web/gzip.h"

namespace nanwatch {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class SiteTest : public ::testing::Test {
 protected:
  HttpReply Ask(HttpRequest request) {
    if (!site_) site_ = std::make_unique<Site>(daemon_.Backend(), Allowed());
    if (request.method.empty()) request.method = "GET";
    return site_->Answer(request);
  }
  HttpReply Get(const std::string& path) {
    HttpRequest request;
    request.path = path;
    return Ask(request);
  }
  static std::vector<std::string> Allowed() { return {"watch.example"}; }

  FakeDaemon daemon_;
  std::unique_ptr<Site> site_;
};

std::string Unzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST_F(SiteTest, MetricsAreNegotiated) {
  daemon_.snapshot = SnapshotOf({SampleRun("a")});
  HttpRequest request;
  request.path = "/metrics";
  EXPECT_EQ(Ask(request).content_type,
            "text/plain; version=0.0.4; charset=utf-8");
  request.accept = "application/openmetrics-text;version=1.0.0";
  const HttpReply reply = Ask(request);
  EXPECT_EQ(reply.content_type,
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_THAT(reply.body, EndsWith("# EOF\n"));
}

TEST_F(SiteTest, MetricsAreZippedWhenAskedFor) {
  daemon_.snapshot = SnapshotOf({SampleRun("a")});
  HttpRequest request;
  request.path = "/metrics";
  request.accept_encoding = "gzip";
  const HttpReply reply = Ask(request);
  EXPECT_TRUE(reply.gzipped);
  EXPECT_THAT(Unzip(reply.body), HasSubstr("nanwatch_steps_total{"));
  EXPECT_THAT(HeaderBlock(reply), HasSubstr("Content-Encoding: gzip"));
}

TEST_F(SiteTest, ReadyGivesTheReasonWhileReplaying) {
  daemon_.not_ready = "Replaying the history: 12 %.";
  EXPECT_EQ(Get("/-/ready").status, 503);
  EXPECT_EQ(Get("/-/ready").body, "Replaying the history: 12 %.\n");
  EXPECT_EQ(Get("/-/healthy").status, 200);
  daemon_.not_ready.clear();
  EXPECT_EQ(Get("/-/ready").status, 200);
}

TEST_F(SiteTest, ThePageEscapesWhatClientsSay) {
  RunView run = SampleRun("<script>alert(1)</script>");
  run.diagnosis.headline = "a < b & \"c\"";
  daemon_.snapshot = SnapshotOf({run});
  const std::string page = Get("/").body;
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("\"/?run=%3Cscript%3E"));
  EXPECT_THAT(page, HasSubstr("a &lt; b &amp; &quot;c&quot;"));
}

TEST_F(SiteTest, AnAlertsLinkShowsItsRun) {
  RunView run = SampleRun("team/<b> 7");
  run.severity = Severity::kCritical;
  run.diagnosis.headline = "The loss is NaN & stays so.";
  CauseVerdict& cause = run.diagnosis.causes.emplace_back();
  cause.cause = Cause::kNanFromForward;
  cause.origin.op = "<i>";
  cause.sentence = "It is born in <i>.";
  cause.evidence.push_back({EvidenceGrade::kSupported, "It was first there."});
  cause.actions.push_back({"pytorch", "Look at <i>."});
  for (const int64_t step : {5, 6}) {
    Incident& incident = run.incidents.emplace_back();
    incident.rule = 3;
    incident.opened_step = step;
    incident.worst = Severity::kCritical;
    incident.summary = "1 < 2";
  }
  daemon_.snapshot = SnapshotOf({SampleRun("other"), run});
  HttpRequest request;
  request.path = "/";
  request.query = "run=team%2F%3Cb%3E%207&attempt=0&step=6";
  const HttpReply reply = Ask(request);
  EXPECT_EQ(reply.status, 200);
  for (const char* part :
       {"<h1>team/&lt;b&gt; 7</h1>", "The loss is NaN &amp; stays so.",
        "<h2>nan from forward (hypothesis)", "It is born in &lt;i&gt;.",
        "op &lt;i&gt; (output)", "supported: It was first there.",
        "pytorch: Look at &lt;i&gt;.", "1 &lt; 2", "scale_collapse",
        "<tr class=\"critical named\"><td class=\"verdict\">critical</td>",
        "\"/api/v1/runs/team%2F%3Cb%3E%207/attempts/0\""}) {
    EXPECT_THAT(reply.body, HasSubstr(part));
  }
  EXPECT_THAT(reply.body, Not(HasSubstr("<i>")));
  EXPECT_THAT(reply.body, Not(HasSubstr("<b>")));
  EXPECT_EQ(Count(reply.body, " named\""), 1);
}

TEST_F(SiteTest, ALinkToNoRunSaysSo) {
  daemon_.past_run =
      [](std::string_view id,
         std::optional<int32_t>) -> Result<std::shared_ptr<const RunView>> {
    if (id != "old") return std::shared_ptr<const RunView>();
    return std::make_shared<const RunView>(SampleRun("old"));
  };
  HttpRequest request;
  request.path = "/";
  request.query = "run=%3Ci%3E";
  EXPECT_EQ(Ask(request).status, 404);
  EXPECT_THAT(Ask(request).body, HasSubstr("There is no run &lt;i&gt; here."));
  request.query = "run=old&attempt=0";
  EXPECT_THAT(Ask(request).body, HasSubstr("<h1>old</h1>"));
  for (const char* query :
       {"run=old&attempt=x", "run=old&attempt=-1", "run=old&step=1.5",
        "run=old&stp=3", "run=%zz", "run=a&run=b"}) {
    request.query = query;
    EXPECT_EQ(Ask(request).status, 400) << query;
  }
  request.query = "";
  EXPECT_THAT(Ask(request).body, HasSubstr("No run has reported yet"));
}

TEST_F(SiteTest, AnEndedRunIsAsBadAsItEverWas) {
  RunView ended = SampleRun("ended");
  ended.state = LifeState::kClosed;
  Incident& incident = ended.incidents.emplace_back();
  incident.state = AlertState::kResolved;
  incident.worst = Severity::kCritical;
  incident.fired = ended.opened;
  daemon_.snapshot = SnapshotOf({SampleRun("fine"), ended});
  const std::string page = Get("/").body;
  EXPECT_THAT(page, HasSubstr("<td class=\"state\">closed</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"verdict\">critical</td>"));
  EXPECT_LT(page.find("ended</a>"), page.find("fine</a>"));
}

TEST_F(SiteTest, HeadersKeepBrowsersStrict) {
  const std::string head = HeaderBlock(Get("/"));
  EXPECT_THAT(head, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(head, HasSubstr("X-Content-Type-Options: nosniff"));
}

TEST_F(SiteTest, ForeignNamesAreTurnedAway) {
  HttpRequest request;
  request.path = "/api/v1/runs";
  request.host = "evil.example:9765";
  EXPECT_EQ(Ask(request).status, 403);
  request.host = "watch.example:9765";
  EXPECT_EQ(Ask(request).status, 200);
}

TEST_F(SiteTest, OtherMethodsAreRefused) {
  HttpRequest request;
  request.path = "/metrics";
  request.method = "POST";
  const HttpReply reply = Ask(request);
  EXPECT_EQ(reply.status, 405);
  EXPECT_THAT(HeaderBlock(reply), HasSubstr("Allow: GET, HEAD"));
}

TEST_F(SiteTest, AddressesThatCannotBeDecodedAre400) {
  EXPECT_EQ(Get("/api/v1/runs/%zz").status, 400);
  EXPECT_EQ(Get("/api/v1/runs/%2").status, 400);
}

TEST_F(SiteTest, RequestsAreCounted) {
  Get("/nowhere");
  Get("/-/healthy");
  Get("/-/healthy");
  const std::string text = Get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("nanwatch_http_requests_total{handler=\"other\","
                              "code=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("nanwatch_http_requests_total{handler=\"healthy"
                              "\",code=\"200\"} 2\n"));
}

}  // namespace
}  // namespace nanwatch
