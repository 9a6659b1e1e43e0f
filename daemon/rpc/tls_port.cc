#include "rpc/tls_port.h"

#include <grpc/grpc.h>

#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace nanwatch {

Result<std::shared_ptr<TlsPort>> TlsPort::Make(const TlsOptions& options,
                                               bool certificate_needed) {
  Result<TlsTexts> texts = ReadTls(options);
  if (!texts) return Error{texts.error()};
  return std::shared_ptr<TlsPort>(
      new TlsPort(options, std::move(*texts), certificate_needed));
}

TlsPort::TlsPort(TlsOptions options, TlsTexts texts, bool certificate_needed)
    : options_(std::move(options)),
      texts_(std::move(texts)),
      stamp_(TlsStamp(options_)) {
  auto asked = GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  if (!options_.client_ca.empty()) {
    asked = certificate_needed
                ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  credentials_ = grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          asked, &TlsPort::Fetch, this));
}

TlsPort::~TlsPort() { grpc_server_credentials_release(credentials_); }

void TlsPort::SetAuthMetadataProcessor(
    const std::shared_ptr<grpc::AuthMetadataProcessor>&) {
  CHECK(false);
}

int TlsPort::AddPortToServer(const std::string& address, grpc_server* server) {
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}

grpc_ssl_certificate_config_reload_status TlsPort::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  return static_cast<TlsPort*>(self)->Reload(config);
}

grpc_ssl_certificate_config_reload_status TlsPort::Reload(
    grpc_ssl_server_certificate_config** config) {
  MutexLock lock(mutex_);
  const std::string stamp = TlsStamp(options_);
  if (stamp != stamp_) {
    stamp_ = stamp;
    Result<TlsTexts> texts = ReadTls(options_);
    if (!texts) {
      LogError("the certificate was not read again, the old one holds",
               texts.error());
    } else if (*texts != texts_) {
      texts_ = std::move(*texts);
      given_ = false;
      LogInfo("the certificate was read again", options_.certificate);
    }
  }
  if (given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  given_ = true;
  const grpc_ssl_pem_key_cert_pair pair{texts_.key.c_str(),
                                        texts_.certificate.c_str()};
  // gRPC 1.51 aborts where there is none, also if it asks for no certificate.
  const std::string& roots =
      texts_.client_ca.empty() ? texts_.certificate : texts_.client_ca;
  *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace nanwatch
