// What HTTP says of the scales that suit the layers of a run.

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/web/fake_backend.h"
#include "web/site.h"

namespace nanwatch {
namespace {

TEST(LayersOfARun, SaysWhichScalesSuitEachLayer) {
  FakeDaemon daemon;
  RunView run = SampleRun("a");
  auto ranges = std::make_shared<LayerRangesView>();
  ranges->layers.push_back({.name = "embed",
                            .lowest = 1024,
                            .highest = 65536,
                            .scale = 256,
                            .lost = 0.25,
                            .attempts = 7,
                            .cut = true,
                            .outside = true,
                            .group = 0});
  ranges->layers.push_back({.name = "head"});
  ranges->groups.push_back({.scale = 4096, .lowest = 1024, .highest = 65536});
  run.layer_ranges = ranges;
  daemon.snapshot = SnapshotOf({run, SampleRun("b")});
  const auto get = [&](const std::string& path, const std::string& query = "") {
    Site site(daemon.Backend(), {});
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.query = query;
    return site.Answer(request);
  };
  const nlohmann::json json =
      nlohmann::json::parse(get("/api/v1/runs/a/layers").body);
  ASSERT_EQ(json["layers"].size(), 2u);
  const nlohmann::json& embed = json["layers"][0];
  EXPECT_EQ(embed["name"], "embed");
  EXPECT_EQ(embed["lowest"], 1024);
  EXPECT_EQ(embed["highest"], 65536);
  EXPECT_EQ(embed["scale"], 256);
  EXPECT_EQ(embed["lost"], 0.25);
  EXPECT_EQ(embed["cut"], true);
  EXPECT_EQ(embed["outside"], true);
  EXPECT_EQ(embed["group"], 0);
  EXPECT_TRUE(json["layers"][1]["lowest"].is_null()) << "not known";
  EXPECT_TRUE(json["layers"][1]["group"].is_null());
  EXPECT_EQ(json["groups"][0]["scale"], 4096);
  EXPECT_EQ(
      nlohmann::json::parse(get("/api/v1/runs/b/layers").body)["layers"].size(),
      0u);
  EXPECT_EQ(get("/api/v1/runs/none/layers").status, 404);
  EXPECT_EQ(get("/api/v1/runs/a/layers", "points=1").status, 400);
}

}  // namespace
}  // namespace nanwatch
