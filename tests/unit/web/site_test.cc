#include "web/site.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/unit/web/fake_backend.h"
#include "web/gzip.h"
#include "web/page_files.h"

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

TEST_F(SiteTest, ThePageBringsAllItsFiles) {
  const HttpReply page = Get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  const std::string folder = "/page/" + std::string(PageVersion()) + "/";
  for (const PageFile& file : PageFiles().subspan(1)) {
    EXPECT_THAT(page.body, HasSubstr('"' + folder + std::string(file.name)));
  }
  for (const auto& [name, type] :
       {std::pair("main.js", "text/javascript; charset=utf-8"),
        std::pair("dygraph.js", "text/javascript; charset=utf-8"),
        std::pair("page.css", "text/css; charset=utf-8"),
        std::pair("icon.svg", "image/svg+xml")}) {
    const HttpReply file = Get(folder + name);
    EXPECT_EQ(file.status, 200) << name;
    EXPECT_EQ(file.content_type, type);
    EXPECT_THAT(HeaderBlock(file), HasSubstr("max-age=31536000, immutable"));
  }
  EXPECT_EQ(Get(folder + "nothing.js").status, 404);
  EXPECT_EQ(Get(folder + "../api.js").status, 404);
  EXPECT_EQ(Get("/page/").status, 404);
  EXPECT_EQ(Get("/page/main.js").status, 404);
}

TEST_F(SiteTest, APageOfAnOlderDaemonIsNotKeptForEver) {
  const HttpReply file = Get("/page/0123456789ab/main.js");
  EXPECT_EQ(file.status, 200);
  EXPECT_THAT(HeaderBlock(file), HasSubstr("Cache-Control: no-cache"));
}

TEST_F(SiteTest, ThePageIsZippedAndNotSentTwice) {
  HttpRequest request;
  request.path = "/";
  request.query = "run=a&step=6";
  request.accept_encoding = "gzip";
  const HttpReply first = Ask(request);
  EXPECT_TRUE(first.gzipped);
  EXPECT_THAT(Unzip(first.body), HasSubstr("<main id=\"main\""));
  request.if_none_match = "W/\"" + first.etag + "\"";
  const HttpReply again = Ask(request);
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_THAT(HeaderBlock(again), Not(HasSubstr("Content-Length")));
  EXPECT_THAT(HeaderBlock(again), HasSubstr("ETag: W/\"" + first.etag));
}

TEST_F(SiteTest, WhatHasNotChangedIsNotSentAgain) {
  daemon_.snapshot = SnapshotOf({SampleRun("a")});
  HttpRequest request;
  request.path = "/api/v1/runs/a";
  const HttpReply first = Ask(request);
  ASSERT_NE(first.etag, "");
  request.if_none_match = "\"other\", W/\"" + first.etag + "\"";
  EXPECT_EQ(Ask(request).status, 304);
  RunView moved = SampleRun("a");
  moved.last_step = 7;
  daemon_.snapshot = SnapshotOf({moved});
  EXPECT_EQ(Ask(request).status, 200);
}

TEST_F(SiteTest, PagesShareRepliesOfTheLastSecond) {
  daemon_.snapshot = SnapshotOf({SampleRun("a")});
  HttpRequest page;
  page.path = "/api/v1/runs";
  page.cache_control = "max-age=1";
  EXPECT_THAT(Ask(page).body, HasSubstr("\"a\""));
  daemon_.snapshot = SnapshotOf({SampleRun("b")});
  EXPECT_THAT(Ask(page).body, HasSubstr("\"a\""));
  // Who does not say that it will do hears the newest.
  EXPECT_THAT(Get("/api/v1/runs").body, HasSubstr("\"b\""));
  page.host = "evil.example";
  EXPECT_EQ(Ask(page).status, 403);
  page.host = "";
  daemon_.now += std::chrono::seconds(1);
  EXPECT_THAT(Ask(page).body, HasSubstr("\"b\""));
}

TEST_F(SiteTest, HeadersKeepBrowsersStrict) {
  const std::string head = HeaderBlock(Get("/"));
  EXPECT_THAT(head, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(head, Not(HasSubstr("unsafe")));
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
