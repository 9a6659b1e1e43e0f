#include "config/web_file.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHash[] =
    "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";

std::string Problems(const std::string& yaml) {
  const auto read = ParseWebFile(yaml, "etc/web.yml");
  return read.ok() ? "" : read.error();
}

TEST(WebFile, IsWhatExportersShare) {
  const auto read = ParseWebFile(R"(
tls_server_config:
  cert_file: server.crt
  key_file: /keys/server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: clients.crt
  client_allowed_sans: [ann@lab.example]
  min_version: TLS13
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: false
  headers:
    Strict-Transport-Security: max-age=31536000
    X-Frame-Options: deny
basic_auth_users:
  ann: )" + std::string(kHash),
                                 "etc/web.yml");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->tls.certificate, "etc/server.crt");
  EXPECT_EQ(read->tls.key, "/keys/server.key");
  EXPECT_EQ(read->tls.client_ca, "etc/clients.crt");
  EXPECT_EQ(read->client, WebProtection::ClientCertificate::kNeeded);
  EXPECT_EQ(read->allowed_sans, std::vector<std::string>{"ann@lab.example"});
  EXPECT_EQ(read->ciphers, "ECDHE-RSA-AES128-GCM-SHA256");
  EXPECT_EQ(read->groups, "X25519:P-256");
  EXPECT_FALSE(read->server_prefers);
  EXPECT_EQ(read->min_version, 0x0304);
  EXPECT_EQ(read->headers.size(), 2u);
  EXPECT_EQ(read->users.at("ann"), kHash);
  EXPECT_TRUE(read->encrypts() && read->asks());
  EXPECT_EQ(Problems(""), "");
}

TEST(WebFile, WhatIsNotSupportedIsSaid) {
  for (const auto& [yaml, told] :
       std::vector<std::pair<std::string, std::string>>{
           {"tls_server_config: {cert: x}", "cert_file"},
           {"tls_server_config: {cert_file: a}", "key_file"},
           {"tls_server_config: {client_auth_type: NoClientCert}", "cert_file"},
           {"tls_server_config: {cert_file: a, key_file: b, client_auth_type: "
            "RequireAnyClientCert}",
            "RequireAndVerifyClientCert"},
           {"tls_server_config: {cert_file: a, key_file: b, client_auth_type: "
            "RequireAndVerifyClientCert}",
            "client_ca_file"},
           {"tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}",
            "client_auth_type"},
           {"tls_server_config: {cert_file: a, key_file: b, "
            "client_allowed_sans: [c]}",
            "client_auth_type"},
           {"tls_server_config: {cert_file: a, key_file: b, min_version: "
            "TLS11}",
            "TLS12"},
           {"tls_server_config: {cert_file: a, key_file: b, min_version: "
            "TLS13, max_version: TLS12}",
            "max_version"},
           {"tls_server_config: {cert_file: a, key_file: b, cipher_suites: "
            "[TLS_RSA_WITH_RC4_128_SHA]}",
            "cipher_suites"},
           {"tls_server_config: {cert_file: a, key_file: b, "
            "curve_preferences: [CurveP224]}",
            "curve_preferences"},
           {"tls_server_config: {cert_fil: a}", "did you mean cert_file"},
           {"http_server_config: {http2: true}", "HTTP/1.1"},
           {"http_server_config: {headers: {Server: x}}", "headers.Server"},
           {"http_server_config: {headers: {X-Frame-Options: maybe}}", "deny"},
           {"http_server_config: {headers: {X-XSS-Protection: \"1\\r\\nA: "
            "b\"}}",
            "character"},
           {"rate_limit: {burst: 1}", "rate_limit"},
           {"basic_auth_user: {a: b}", "did you mean basic_auth_users"}}) {
    EXPECT_THAT(Problems(yaml),
                AllOf(HasSubstr("etc/web.yml"), HasSubstr(told)))
        << yaml;
  }
}

// A password in the place of a hash is told, not shown.
TEST(WebFile, SecretsAreNotShown) {
  for (const std::string secret :
       {"open-sesame", "$1$open-sesame", "[open-sesame]", "{a: open-sesame}",
        "$2y$31$open.sesameopen.sesameopen.sesameopen.sesameopen.sesa"}) {
    const std::string said =
        Problems("basic_auth_users: {ann: " + secret + "}");
    EXPECT_THAT(said, HasSubstr("basic_auth_users.ann")) << secret;
    EXPECT_THAT(said, Not(HasSubstr("sesame")));
  }
  EXPECT_THAT(Problems("basic_auth_users: {ann: \"open-sesame"),
              Not(HasSubstr("sesame")));
  EXPECT_THAT(
      Problems("basic_auth_users: {\"a n\": " + std::string(kHash) + "}"),
      HasSubstr("letters"));
}

TEST(WebFile, BeyondTheLoopbackTlsAndAUserAreNeeded) {
  WebProtection none;
  WebProtection users;
  users.users["ann"] = kHash;
  WebProtection tls;
  tls.tls.certificate = "c";
  WebProtection both = tls;
  both.users = users.users;
  WebProtection certificates = tls;
  certificates.client = WebProtection::ClientCertificate::kNeeded;
  for (const char* here : {"127.0.0.1:1", "[::1]:1", "localhost:1", ""}) {
    EXPECT_EQ(WhyInsecure(here, none), "") << here;
  }
  for (const char* beyond : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1"}) {
    EXPECT_THAT(WhyInsecure(beyond, none), HasSubstr("without TLS"));
    EXPECT_THAT(WhyInsecure(beyond, users), HasSubstr("without TLS"));
    EXPECT_THAT(WhyInsecure(beyond, tls), HasSubstr("who he is"));
    EXPECT_EQ(WhyInsecure(beyond, both), "");
    EXPECT_EQ(WhyInsecure(beyond, certificates), "");
  }
}

}  // namespace
}  // namespace nanwatch
