#include "web/tls_door.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "model/metric_names.h"

namespace nanwatch {
namespace {

struct FreeBio {
  void operator()(BIO* it) const { BIO_free(it); }
};
struct FreeCertificate {
  void operator()(X509* it) const { X509_free(it); }
};
struct FreeKey {
  void operator()(EVP_PKEY* it) const { EVP_PKEY_free(it); }
};
struct FreeNames {
  void operator()(GENERAL_NAMES* it) const { GENERAL_NAMES_free(it); }
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;

// Of RFC 7301, with its length before it.
constexpr unsigned char kProtocol[] = "\x08http/1.1";

std::vector<Certificate> ReadCertificates(const std::string& pem) {
  std::vector<Certificate> all;
  const std::unique_ptr<BIO, FreeBio> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  while (X509* one = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
    all.emplace_back(one);
  }
  ERR_clear_error();
  return all;
}

bool ShowPair(SSL_CTX* context, const TlsTexts& texts) {
  const std::unique_ptr<BIO, FreeBio> secret(
      BIO_new_mem_buf(texts.key.data(), static_cast<int>(texts.key.size())));
  const std::unique_ptr<EVP_PKEY, FreeKey> key(
      PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr));
  const std::vector<Certificate> chain = ReadCertificates(texts.certificate);
  if (chain.empty() || key == nullptr ||
      SSL_CTX_use_certificate(context, chain[0].get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return false;
  }
  return std::all_of(chain.begin() + 1, chain.end(), [&](const auto& one) {
    return SSL_CTX_add1_chain_cert(context, one.get()) == 1;
  });
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

// Empty: no address.
std::string AddressOf(const ASN1_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(bytes) == 4    ? AF_INET
                     : ASN1_STRING_length(bytes) == 16 ? AF_INET6
                                                       : AF_UNSPEC;
  if (family != AF_UNSPEC) {
    inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof text);
  }
  return text;
}

std::vector<std::string> NamesOf(const X509* certificate,
                                 std::initializer_list<int> kinds) {
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
          certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> texts;
  for (const int kind : kinds) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
      int type = 0;
      const auto* value =
          static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(
              sk_GENERAL_NAME_value(names.get(), i), &type));
      if (type != kind) continue;
      texts.push_back(kind == GEN_IPADD ? AddressOf(value) : TextOf(value));
    }
  }
  ERR_clear_error();
  return texts;
}

// Of each certificate of the client's chain, its own last: is it one of those
// that may come in?
int CheckSan(int fine, X509_STORE_CTX* check) {
  if (fine != 1 || X509_STORE_CTX_get_error_depth(check) > 0) return fine;
  const auto* connection = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* allowed = static_cast<const std::vector<std::string>*>(
      SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  const auto names = NamesOf(X509_STORE_CTX_get_current_cert(check),
                             {GEN_EMAIL, GEN_URI, GEN_DNS, GEN_IPADD});
  const bool named =
      std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::find(allowed->begin(), allowed->end(), name) !=
               allowed->end();
      });
  if (!named) X509_STORE_CTX_set_error(check, X509_V_ERR_CERT_REJECTED);
  return named ? 1 : 0;
}

int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size,
                   const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  const int rc = SSL_select_next_proto(
      &found, size, kProtocol, sizeof kProtocol - 1, offered, offered_size);
  *chosen = found;
  return rc == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK
                                      : SSL_TLSEXT_ERR_NOACK;
}

bool AskForCertificates(SSL_CTX* context, const WebProtection& protection,
                        const std::string& pem) {
  using ClientCertificate = WebProtection::ClientCertificate;
  if (protection.client == ClientCertificate::kNone) return true;
  for (const Certificate& one : ReadCertificates(pem)) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get()) != 1 ||
        SSL_CTX_add_client_CA(context, one.get()) != 1) {
      return false;
    }
  }
  int mode = SSL_VERIFY_PEER;
  if (protection.client == ClientCertificate::kNeeded) {
    mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  SSL_CTX_set_verify(context, mode,
                     protection.allowed_sans.empty() ? nullptr : CheckSan);
  return true;
}

bool SetUp(SSL_CTX* context, const WebProtection& protection,
           const TlsTexts& texts) {
  uint64_t options = SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                     SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF;
  if (protection.server_prefers) options |= SSL_OP_CIPHER_SERVER_PREFERENCE;
  SSL_CTX_set_options(context, options);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // A session that is taken up again would not show a certificate again.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  const int lowest = std::max(protection.min_version, TLS1_2_VERSION);
  return SSL_CTX_set_min_proto_version(context, lowest) == 1 &&
         SSL_CTX_set_max_proto_version(context, protection.max_version) == 1 &&
         (protection.ciphers.empty() ||
          SSL_CTX_set_cipher_list(context, protection.ciphers.c_str()) == 1) &&
         (protection.groups.empty() ||
          SSL_CTX_set1_groups_list(context, protection.groups.c_str()) == 1) &&
         ShowPair(context, texts) &&
         AskForCertificates(context, protection, texts.client_ca);
}

std::string WhatOpenSslSays() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

}  // namespace

Result<std::unique_ptr<TlsDoor>> TlsDoor::Make(
    const WebProtection& protection) {
  auto files = TlsFiles::Open(protection.tls);
  if (!files) return Error{files.error()};
  std::unique_ptr<TlsDoor> door(new TlsDoor(protection, std::move(*files)));
  MutexLock lock(door->mutex_);
  if (const Status made = door->Renew(*door->files_->Newer()); !made) {
    return Error{made.error()};
  }
  return door;
}

std::shared_ptr<SSL_CTX> TlsDoor::Context() {
  MutexLock lock(mutex_);
  if (const auto texts = files_->Newer()) {
    if (const Status made = Renew(*texts); !made) {
      LogError("the certificate was not taken, the old one holds",
               made.error());
    }
  }
  return context_;
}

void TlsDoor::AppendSamples(std::vector<SelfSample>* samples) const {
  const std::optional<Validity> valid = files_->Valid();
  if (!valid) return;
  for (const auto& [metric, time] :
       {std::pair(Metric::kCertificateBegin, valid->begin),
        std::pair(Metric::kCertificateEnd, valid->end)}) {
    samples->push_back(
        {Name(metric), {{"port", "http"}}, ToSeconds(time.time_since_epoch())});
  }
}

Status TlsDoor::Renew(const TlsTexts& texts) {
  std::shared_ptr<SSL_CTX> made(SSL_CTX_new(TLS_server_method()),
                                &SSL_CTX_free);
  if (made == nullptr || !SetUp(made.get(), protection_, texts)) {
    return Error{"OpenSSL does not take the certificate " +
                 protection_.tls.certificate +
                 " with its settings: " + WhatOpenSslSays()};
  }
  SSL_CTX_set_app_data(made.get(), &protection_.allowed_sans);
  context_ = std::move(made);
  return OkStatus();
}

std::optional<std::string> NameOfClient(const SSL* connection) {
  const Certificate shown(SSL_get1_peer_certificate(connection));
  if (shown == nullptr || SSL_get_verify_result(connection) != X509_V_OK) {
    return std::nullopt;
  }
  const auto names = NamesOf(shown.get(), {GEN_EMAIL, GEN_URI, GEN_DNS});
  return names.empty() ? "" : names[0];
}

}  // namespace nanwatch
