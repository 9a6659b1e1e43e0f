#include "rpc/tls_port.h"

#include <grpc/grpc.h>

#include <optional>
#include <utility>

#include "base/check.h"
#include "model/metric_names.h"

namespace nanwatch {

Result<std::shared_ptr<TlsPort>> TlsPort::Make(const TlsOptions& options,
                                               bool certificate_needed) {
  auto files = TlsFiles::Open(options);
  if (!files) return Error{files.error()};
  return std::shared_ptr<TlsPort>(new TlsPort(
      !options.client_ca.empty(), std::move(*files), certificate_needed));
}

TlsPort::TlsPort(bool client_ca, std::unique_ptr<TlsFiles> files,
                 bool certificate_needed)
    : files_(std::move(files)) {
  auto asked = GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  if (client_ca) {
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

void TlsPort::AppendSamples(std::vector<SelfSample>* samples) const {
  const std::optional<Validity> valid = files_->Valid();
  if (!valid) return;
  for (const auto& [metric, time] :
       {std::pair(Metric::kCertificateBegin, valid->begin),
        std::pair(Metric::kCertificateEnd, valid->end)}) {
    samples->push_back({Name(metric),
                        {{"port", "ingest"}},
                        ToSeconds(time.time_since_epoch())});
  }
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
  const std::optional<TlsTexts> texts = files_->Newer();
  if (!texts) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{texts->key.c_str(),
                                        texts->certificate.c_str()};
  // gRPC 1.51 aborts where there is none, also if it asks for no certificate.
  const std::string& roots =
      texts->client_ca.empty() ? texts->certificate : texts->client_ca;
  *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace nanwatch
