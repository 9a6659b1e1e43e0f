#include "web/gate.h"

#include <openssl/evp.h>
#include <strings.h>

#include <algorithm>
#include <utility>

#include "model/network_name.h"

namespace nanwatch {
namespace {

// Long enough for the dearest hash behind another one. Ours.
constexpr std::chrono::seconds kLoginTime(5);
// Longer than a name and a password of 1 KB in base64.
constexpr size_t kBasicBytes = 2048;

HttpReply Unauthorized(std::string_view what) {
  HttpReply reply = ErrorReply(401, what, "Authorization header",
                               "Send the name and the password of a user of "
                               "basic_auth_users, in web.config_file.");
  reply.handler = "gate";
  return reply;
}

HttpReply Forbidden(const std::string& why) {
  HttpReply reply =
      ErrorReply(403, why, "access", "Ask an administrator of this daemon.");
  reply.handler = "gate";
  return reply;
}

HttpReply Busy() {
  HttpReply reply =
      ErrorReply(503, "Too many passwords are being checked.",
                 "Authorization header", "Try again in some seconds.");
  reply.handler = "gate";
  return reply;
}

}  // namespace

std::optional<BasicLogin> ParseBasic(std::string_view authorization) {
  constexpr std::string_view kScheme = "Basic ";
  if (authorization.size() > kBasicBytes ||
      authorization.size() < kScheme.size() ||
      strncasecmp(authorization.data(), kScheme.data(), kScheme.size()) != 0) {
    return std::nullopt;
  }
  authorization.remove_prefix(kScheme.size());
  if (authorization.size() % 4 != 0) return std::nullopt;
  std::string text(authorization.size(), '\0');
  const int size = EVP_DecodeBlock(
      reinterpret_cast<unsigned char*>(text.data()),
      reinterpret_cast<const unsigned char*>(authorization.data()),
      static_cast<int>(authorization.size()));
  if (size < 0) return std::nullopt;
  // EVP_DecodeBlock counts what stands for padding.
  const size_t padding =
      authorization.size() -
      std::min(authorization.find('='), authorization.size());
  if (padding > 2) return std::nullopt;
  text.resize(static_cast<size_t>(size) - padding);
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return BasicLogin{text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<HttpReply> Gate::Check(const WebProtection& protection,
                                     HttpRequest* request) {
  std::string name;
  if (auto refused = Identify(protection, request, &name)) return refused;
  if (name.empty()) return std::nullopt;
  Result<Caller> caller = caller_of_(name);
  if (!caller) {
    request->tried = name;
    return Forbidden(caller.error());
  }
  request->caller = std::move(*caller);
  request->caller->from = request->remote;
  return std::nullopt;
}

std::optional<HttpReply> Gate::Identify(const WebProtection& protection,
                                        HttpRequest* request,
                                        std::string* name) {
  if (protection.users.empty()) {
    if (!request->certificate_name) return std::nullopt;
    if (!IsNetworkName(*request->certificate_name)) {
      return Forbidden(
          "The certificate has no name that counts here: an e-mail address, a "
          "URI or a DNS name among its alternative names (SAN).");
    }
    *name = *request->certificate_name;
    return std::nullopt;
  }
  if (request->authorization.empty()) {
    return Unauthorized("This daemon asks who you are.");
  }
  auto login = ParseBasic(request->authorization);
  if (!login) {
    return Unauthorized(
        "The header Authorization is not Basic, with a name "
        "and a password in base64.");
  }
  switch (passwords_.Check(
      protection.users,
      {login->user, std::move(login->password), request->remote},
      In(kLoginTime))) {
    case LoginAnswer::kBusy:
      return Busy();
    case LoginAnswer::kWrong:
      // Who is not known may have written his password there.
      if (protection.users.count(login->user) > 0) request->tried = login->user;
      return Unauthorized("The name or the password is wrong.");
    case LoginAnswer::kRight:
      break;
  }
  *name = login->user;
  return std::nullopt;
}

}  // namespace nanwatch
