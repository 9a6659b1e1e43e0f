#include "client_lib/src/credentials.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace nanwatch_client {
namespace {

constexpr char kTls[] = "tls://";
// A bundle of the web's authorities has 200 KB.
constexpr size_t kFileMost = 4 << 20;
// A header of gRPC's has at most 8 KB, all together.
constexpr size_t kTokenMost = 4096;

std::string FileNamed(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? std::string() : value;
}

bool IsLoopback(const std::string& address) {
  for (const char* beginning : {"127.", "localhost:", "[::1]:", "ipv4:127.",
                                "ipv6:[::1]:", "dns:localhost:"}) {
    if (address.starts_with(beginning)) return true;
  }
  return false;
}

std::string ReadFile(const char* variable, const std::string& path,
                     std::string* text) {
  if (path.empty()) return {};
  errno = 0;
  struct stat found = {};
  std::ifstream stream;
  // Not a pipe that nobody writes to.
  if (stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
    stream.open(path, std::ios::binary);
  }
  if (!stream.is_open()) {
    return std::string(variable) + " " + path + " cannot be read: " +
           (errno == 0 ? "it is no file" : std::strerror(errno));
  }
  text->resize(kFileMost + 1);
  stream.read(text->data(), static_cast<std::streamsize>(text->size()));
  text->resize(static_cast<size_t>(stream.gcount()));
  if (text->size() <= kFileMost) return {};
  return std::string(variable) + " " + path + " is too large";
}

// A line; what an editor puts after it does not count.
std::string ReadToken(const std::string& path, std::string* token) {
  std::string why = ReadFile("NANWATCH_TOKEN_FILE", path, token);
  if (path.empty() || !why.empty()) return why;
  token->erase(token->find_last_not_of(" \t\r\n") + 1);
  const bool plain =
      token->find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
          "-._~+/=") == std::string::npos;
  if (!token->empty() && token->size() <= kTokenMost && plain) return {};
  token->clear();
  return "NANWATCH_TOKEN_FILE " + path +
         " holds no token: one line of letters, digits and any of -._~+/=";
}

}  // namespace

CredentialFiles FindCredentialFiles(const Environment& environment) {
  return {FileNamed(environment, "NANWATCH_CA"),
          FileNamed(environment, "NANWATCH_CERT"),
          FileNamed(environment, "NANWATCH_KEY"),
          FileNamed(environment, "NANWATCH_TOKEN_FILE")};
}

std::string ReadCredentials(const std::string& address,
                            const CredentialFiles& files, Credentials* to) {
  to->tls = address.starts_with(kTls);
  to->target = to->tls ? address.substr(sizeof kTls - 1) : address;
  if (!to->tls) {
    return IsLoopback(address) ? ReadToken(files.token, &to->token)
                               : std::string();
  }
  if (files.certificate.empty() != files.key.empty()) {
    return "NANWATCH_CERT and NANWATCH_KEY go together: set both, or none";
  }
  std::string why = ReadFile("NANWATCH_CA", files.ca, &to->ca);
  if (why.empty()) {
    why = ReadFile("NANWATCH_CERT", files.certificate, &to->certificate);
  }
  if (why.empty()) why = ReadFile("NANWATCH_KEY", files.key, &to->key);
  if (why.empty()) why = ReadToken(files.token, &to->token);
  return why;
}

std::string Advice(const Credentials& credentials, const std::string& said) {
  const auto has = [&](const char* words) {
    return said.find(words) != std::string::npos;
  };
  // OpenSSL's words, and BoringSSL's.
  if (has("certificate verify failed") || has("CERTIFICATE_VERIFY_FAILED")) {
    return credentials.ca.empty()
               ? "set NANWATCH_CA to the authority that signed the daemon's "
                 "certificate"
               : "the daemon's certificate is not signed by NANWATCH_CA, or "
                 "has expired";
  }
  if (credentials.tls && has("empty address list")) {
    return "NANWATCH_KEY is not the key of NANWATCH_CERT, or a file holds "
           "something else";
  }
  if (!has("failed to connect") || !has("Socket closed")) return {};
  if (!credentials.tls) {
    return credentials.target.starts_with("unix:")
               ? ""
               : "it may speak TLS: then the address begins with tls://";
  }
  return credentials.certificate.empty()
             ? "it may ask for a certificate: NANWATCH_CERT, NANWATCH_KEY"
             : "NANWATCH_CERT may have expired, or an authority that the "
               "daemon does not know signed it";
}

}  // namespace nanwatch_client
