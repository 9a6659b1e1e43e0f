#include "rpc/client_secrets.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"

namespace nanwatch {
namespace {

constexpr std::string_view kTls = "tls://";
// A bundle of the web's authorities has 200 KB.
constexpr size_t kSecretsMost = 4 << 20;

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("localhost:") ||
         address.starts_with("[::1]:");
}

}  // namespace

ClientSecrets ReadClientSecrets(
    const std::string& address,
    const std::function<std::string(const std::string&)>& environment) {
  ClientSecrets secrets;
  secrets.tls = address.starts_with(kTls);
  secrets.target = secrets.tls ? address.substr(kTls.size()) : address;
  const auto read = [&](const std::string& variable, std::string* text) {
    const std::string path = environment(variable);
    if (path.empty()) return;
    *text = ReadHead(path, kSecretsMost);
    text->erase(text->find_last_not_of(" \t\r\n") + 1);
    if (text->empty()) {
      secrets.problem = variable + " " + path +
                        " cannot be read, or is empty: see who may read it";
    }
  };
  if (secrets.tls) {
    read("NANWATCH_CA", &secrets.ca);
    read("NANWATCH_CERT", &secrets.certificate);
    read("NANWATCH_KEY", &secrets.key);
  }
  if (secrets.tls || IsLoopback(address)) {
    read("NANWATCH_TOKEN_FILE", &secrets.token);
  }
  // gRPC ends the program for a header that is none.
  if (!std::all_of(secrets.token.begin(), secrets.token.end(),
                   [](char c) { return c > ' ' && c < '\x7f'; })) {
    secrets.token.clear();
    secrets.problem = "NANWATCH_TOKEN_FILE holds no token: it is one line";
  }
  if (secrets.certificate.empty() != secrets.key.empty() &&
      secrets.problem.empty()) {
    secrets.problem =
        "NANWATCH_CERT and NANWATCH_KEY go together: set both, or none";
  }
  return secrets;
}

std::string Advice(const ClientSecrets& secrets, std::string_view said) {
  const auto has = [&](std::string_view words) {
    return said.find(words) != std::string_view::npos;
  };
  if (has("certificate verify failed")) {
    return secrets.ca.empty()
               ? "set NANWATCH_CA to the authority that signed the daemon's "
                 "certificate"
               : "the daemon's certificate is not signed by NANWATCH_CA, or "
                 "has expired";
  }
  if (secrets.tls && has("empty address list")) {
    return "NANWATCH_KEY is not the key of NANWATCH_CERT, or a file holds "
           "something else";
  }
  if (!has("failed to connect") || !has("Socket closed")) return "";
  if (!secrets.tls) {
    return secrets.target.starts_with("unix:")
               ? ""
               : "it may speak TLS: then the address begins with tls://";
  }
  return secrets.certificate.empty()
             ? "it may ask for a certificate: NANWATCH_CERT, NANWATCH_KEY"
             : "NANWATCH_CERT may have expired, or an authority that the "
               "daemon does not know signed it";
}

}  // namespace nanwatch
