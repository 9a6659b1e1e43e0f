#include "notify/template.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/notify/notice_fixture.h"

namespace nanwatch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(TemplateTest, TheBuiltInBodyIsSound) {
  EXPECT_TRUE(CheckWebhookBody(DefaultWebhookBody()).ok());
  const json body =
      json::parse(RenderWebhookBody(DefaultWebhookBody(), Firing(1),
                                    {"http://gpu7", "https://wiki/nanwatch/"}));
  EXPECT_EQ(body["text"],
            "[firing] critical in run job-7 (job llm, rank 3 (node7)): Log "
            "overflows at every step. Look: nanwatch diagnose job-7 "
            "http://gpu7/?run=job-7&attempt=1&step=42");
  EXPECT_EQ(body["place"], "rank 3 (node7)");
  EXPECT_EQ(body["runbook_url"], "https://wiki/nanwatch/NanwatchLossScale.md");
  EXPECT_EQ(body["incident"], "0000000000000001");
}

TEST(TemplateTest, AnEndSaysWhyAndACommandIsAsAShellReadsIt) {
  Notice notice = Resolved(Firing(1), 60);
  notice.incident.resolved_reason = "run closed";
  notice.run.run_id = "it's 7";
  notice.job.clear();
  const json body =
      json::parse(RenderWebhookBody(R"({"text":"{{headline}}"})", notice, {}));
  EXPECT_EQ(body["text"],
            "[resolved: run closed] critical in run it's 7 (rank 3 (node7)): "
            "Log overflows at every step. Look: nanwatch diagnose "
            "'it'\\''s 7'");
}

TEST(TemplateTest, ValuesCannotBreakOutOfTheirString) {
  Notice notice = Firing(1);
  notice.run.run_id = "a\"},\n{\"b\\\xff{{summary}}";
  const std::string body =
      RenderWebhookBody(R"({"run":"{{ run_id }}"})", notice, {});
  ASSERT_TRUE(json::accept(body)) << body;
  EXPECT_EQ(json::parse(body).size(), 1u);
  EXPECT_THAT(json::parse(body)["run"].get<std::string>(),
              HasSubstr("{{summary}}"));
}

TEST(TemplateTest, AnUnknownPlaceholderIsNamed) {
  const Status status = CheckWebhookBody(R"({"a":"{{sumary}}"})");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error(), HasSubstr("{{sumary}}"));
}

TEST(TemplateTest, WhatIsNoJsonIsRefused) {
  EXPECT_FALSE(CheckWebhookBody("").ok());
  EXPECT_FALSE(CheckWebhookBody(R"({"a":{{summary}}})").ok());
  EXPECT_TRUE(CheckWebhookBody(R"({"a":"{{summary}}"})").ok());
}

TEST(TemplateTest, SaysWhyItResolved) {
  EXPECT_EQ(RenderWebhookBody(R"({"a":"{{status}}: {{resolved_reason}}"})",
                              Muted(Firing(1)), {}),
            R"({"a":"muted: muted"})");
  EXPECT_EQ(RenderWebhookBody(R"({"a":"{{status}}: {{resolved_reason}}"})",
                              Resolved(Firing(1), 9), {}),
            R"({"a":"resolved: cleared"})");
}

}  // namespace
}  // namespace nanwatch
