#include "config/web_file.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "base/file.h"
#include "config/config_text.h"
#include "config/yaml_section.h"
#include "config/yaml_tree.h"
#include "model/network_name.h"
#include "net/tcp_address.h"
#include "net/tls_files.h"
#include "web/bcrypt.h"

namespace nanwatch {
namespace {

using ClientCertificate = WebProtection::ClientCertificate;
using Names = std::vector<std::pair<std::string, std::string>>;

// Those of TLS 1.2 that keep what was said secret when a key is lost, by the
// names of the registry (RFC 5246, 7905) and of OpenSSL.
const Names& CipherSuites() {
  static const auto* suites = new Names{
      {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
      {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
      {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
       "ECDHE-ECDSA-AES128-GCM-SHA256"},
      {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
       "ECDHE-ECDSA-AES256-GCM-SHA384"},
      {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
       "ECDHE-RSA-CHACHA20-POLY1305"},
      {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
       "ECDHE-ECDSA-CHACHA20-POLY1305"}};
  return *suites;
}

const Names& Curves() {
  static const auto* curves = new Names{{"CurveP256", "P-256"},
                                        {"CurveP384", "P-384"},
                                        {"CurveP521", "P-521"},
                                        {"X25519", "X25519"}};
  return *curves;
}

// A list of words as OpenSSL's words, with colons between.
void ReadNames(YamlSection* section, const std::string& key, const Names& known,
               std::string* value) {
  std::vector<std::string> words;
  section->Texts(key, &words);
  std::string all;
  for (const auto& [word, name] : known)
    all += (all.empty() ? "" : ", ") + word;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto found =
        std::find_if(known.begin(), known.end(),
                     [&](const auto& one) { return one.first == words[i]; });
    if (found == known.end()) {
      section->ComplainOfItem(key, i, " takes these alone: " + all + ".");
    } else {
      *value += (value->empty() ? "" : ":") + found->second;
    }
  }
}

void ReadPath(YamlSection* section, const std::string& key,
              const std::string& folder, std::string* path) {
  section->Text(key, path);
  if (!path->empty() && path->front() != '/') *path = folder + "/" + *path;
}

// What could be said, and is not done here.
void RefuseKey(YamlSection* section, const std::string& key,
               const std::string& sentence) {
  if (section->Has(key)) section->Complain(key, sentence);
  section->Know(key);
}

void CheckClients(YamlSection* section, const WebProtection& read) {
  const bool asked = read.client != ClientCertificate::kNone;
  if (asked && read.tls.client_ca.empty()) {
    section->Complain("client_auth_type",
                      " needs client_ca_file: who signs the certificates of "
                      "clients.");
  } else if (!asked && !read.tls.client_ca.empty()) {
    section->Complain("client_ca_file",
                      " needs client_auth_type: RequireAndVerifyClientCert.");
  }
  if (!asked && !read.allowed_sans.empty()) {
    section->Complain("client_allowed_sans",
                      " needs client_auth_type: RequireAndVerifyClientCert.");
  }
}

void ReadTlsServer(YamlSection section, const std::string& folder,
                   WebProtection* read) {
  for (const char* key : {"cert", "key", "client_ca"}) {
    RefuseKey(
        &section, key,
        " is not read here: put it into a file of its own, and name that in " +
            std::string(key) + "_file.");
  }
  ReadPath(&section, "cert_file", folder, &read->tls.certificate);
  ReadPath(&section, "key_file", folder, &read->tls.key);
  ReadPath(&section, "client_ca_file", folder, &read->tls.client_ca);
  section.Choice<ClientCertificate>(
      "client_auth_type",
      {{"NoClientCert", ClientCertificate::kNone},
       {"VerifyClientCertIfGiven", ClientCertificate::kIfGiven},
       {"RequireAndVerifyClientCert", ClientCertificate::kNeeded}},
      &read->client);
  section.Texts("client_allowed_sans", &read->allowed_sans);
  section.Choice<int>("min_version",
                      {{"TLS12", TLS1_2_VERSION}, {"TLS13", TLS1_3_VERSION}},
                      &read->min_version);
  section.Choice<int>("max_version",
                      {{"TLS12", TLS1_2_VERSION}, {"TLS13", TLS1_3_VERSION}},
                      &read->max_version);
  if (read->max_version != 0 && read->min_version > read->max_version) {
    section.Complain("max_version", " is below min_version.");
  }
  ReadNames(&section, "cipher_suites", CipherSuites(), &read->ciphers);
  section.Flag("prefer_server_cipher_suites", &read->server_prefers);
  ReadNames(&section, "curve_preferences", Curves(), &read->groups);
  const bool given = section.Given();
  if (given && (read->tls.certificate.empty() || read->tls.key.empty())) {
    section.Complain(read->tls.certificate.empty() ? "cert_file" : "key_file",
                     " is missing: cert_file and key_file go together.");
  }
  CheckClients(&section, *read);
  section.Finish();
}

void ReadHeaders(YamlSection section, WebProtection* read) {
  const std::array<std::pair<const char*, std::vector<std::string>>, 5> known =
      {{{"Content-Security-Policy", {}},
        {"X-Frame-Options", {"deny", "sameorigin"}},
        {"X-Content-Type-Options", {"nosniff"}},
        {"X-XSS-Protection", {}},
        {"Strict-Transport-Security", {}}}};
  for (const auto& [name, values] : known) {
    std::string value;
    section.Text(name, &value);
    if (value.empty()) continue;
    const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
      return c >= ' ' && c < '\x7f';
    });
    if (!plain) {
      section.Complain(name, " holds a character that is no part of a header.");
    } else if (!values.empty() &&
               std::find(values.begin(), values.end(), value) == values.end()) {
      std::string all = values[0];
      if (values.size() > 1) all += " or " + values[1];
      section.Complain(name, " must be " + all + ".");
    } else {
      read->headers.emplace_back(name, value);
    }
  }
  section.Finish();
}

void ReadHttpServer(YamlSection section, WebProtection* read) {
  bool http2 = false;
  section.Flag("http2", &http2);
  if (http2) {
    section.Complain("http2",
                     ": this daemon speaks HTTP/1.1: set false, or leave the "
                     "key out.");
  }
  ReadHeaders(section.Section("headers"), read);
  section.Finish();
}

void ReadUsers(YamlSection section, WebProtection* read) {
  for (const std::string& name : section.Names()) {
    std::string hash;
    section.Text(name, &hash);
    const int cost = BcryptCost(hash);
    if (!IsNetworkName(name)) {
      section.Complain(name, ": a name has 1 to " +
                                 std::to_string(kNetworkNameBytes) +
                                 " letters, digits and any of " +
                                 std::string(kNetworkNameMarks) + ".");
    } else if (name.find(':') != std::string::npos) {
      section.Complain(name, ": the name of a user of HTTP has no colon.");
    } else if (cost == 0) {
      // Not shown: it may be the password itself.
      section.Complain(name,
                       " is no bcrypt hash ($2y$...): make one by `htpasswd "
                       "-nBC 10 " +
                           name + "`.");
    } else if (cost < kBcryptCostLeast || cost > kBcryptCostMost) {
      section.Complain(name, " has a cost of " + std::to_string(cost) +
                                 "; it must be from " +
                                 std::to_string(kBcryptCostLeast) + " to " +
                                 std::to_string(kBcryptCostMost) + ".");
    } else {
      read->users.emplace(name, hash);
    }
  }
  section.Finish();
}

}  // namespace

Result<WebProtection> ParseWebFile(std::string_view yaml,
                                   const std::string& file) {
  WebProtection read;
  ConfigReading reading;
  try {
    YamlSection top(LoadTree(std::string(yaml), &reading), "", &reading);
    ReadTlsServer(top.Section("tls_server_config"), ParentDirectory(file),
                  &read);
    ReadHttpServer(top.Section("http_server_config"), &read);
    ReadUsers(top.Section("basic_auth_users"), &read);
    RefuseKey(
        &top, "rate_limit",
        " is not supported here: leave it out; web.threads bounds how many "
        "requests are answered at once.");
    top.Finish();
  } catch (const std::exception& e) {  // yaml-cpp throws where it pleases
    reading.problems.push_back({0, 0, "The file cannot be read as YAML."});
  }
  if (reading.problems.empty()) return read;
  return Error{Describe(file, std::move(reading.problems))};
}

Result<WebProtection> LoadWebFile(const std::string& file) {
  const Result<std::string> text = ReadConfigText(file);
  if (!text.ok()) return Error{text.error()};
  Result<WebProtection> read = ParseWebFile(*text, file);
  if (!read.ok() || !read->encrypts()) return read;
  const Result<TlsTexts> tried = ReadTls(read->tls);
  if (!tried.ok()) return Error{file + ": " + tried.error() + "."};
  return read;
}

std::string WhyInsecure(const std::string& listen,
                        const WebProtection& protection) {
  const Result<TcpAddress> address = ParseTcpAddress(listen);
  // Of no address the server says so.
  if (listen.empty() || !address.ok() || address->loopback) return "";
  const std::string beyond =
      "HTTP listens beyond the loopback (" + listen + ")";
  if (!protection.encrypts()) {
    return beyond +
           " without TLS: who is between reads and changes what is "
           "said, passwords too";
  }
  if (!protection.asks()) {
    return beyond +
           " and asks nobody who he is: who reaches the port sees "
           "every run";
  }
  return "";
}

}  // namespace nanwatch
