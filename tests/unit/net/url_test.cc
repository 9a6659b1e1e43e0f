#include "net/url.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(UrlTest, ShowsNoSecret) {
  EXPECT_EQ(PublicUrl("http://am:9093"), "http://am:9093");
  EXPECT_EQ(PublicUrl("http://am:9093/"), "http://am:9093");
  EXPECT_EQ(PublicUrl("https://user:p@ss@chat/hook/T0KEN?key=1"),
            "https://chat/...");
  EXPECT_EQ(PublicUrl("https://chat?key=1"), "https://chat/...");
  EXPECT_EQ(PublicUrl("no url"), "...");
}

TEST(UrlTest, FindsTheSocketOfAUnixUrl) {
  const Endpoint endpoint = EndpointOf("http+unix://%2Frun%2Fam.sock/api/v2");
  EXPECT_EQ(endpoint.unix_socket, "/run/am.sock");
  EXPECT_EQ(endpoint.url, "http://localhost/api/v2");
  EXPECT_EQ(EndpointOf("http+unix://%2Fs").url, "http://localhost/");
  EXPECT_EQ(EndpointOf("http://am/x").url, "http://am/x");
}

TEST(UrlTest, JoinsWithOneSlash) {
  EXPECT_EQ(JoinUrl("http://am/", "/api"), "http://am/api");
  EXPECT_EQ(JoinUrl("http://am", "api"), "http://am/api");
}

TEST(UrlTest, EncodesWhatIsNotPlain) {
  EXPECT_EQ(PercentEncoded("run 7/a"), "run%207%2Fa");
}

}  // namespace
}  // namespace nanwatch
