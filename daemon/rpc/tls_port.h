// TlsPort: how a TCP port speaks TLS (1.2 and 1.3; gRPC takes no other). At
// each handshake it looks whether its files have changed: connections that
// stand go on with what they had.

#ifndef NANWATCH_RPC_TLS_PORT_H_
#define NANWATCH_RPC_TLS_PORT_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/self_sample.h"
#include "net/tls_files.h"

namespace nanwatch {

class TlsPort final : public grpc::ServerCredentials {
 public:
  // `certificate_needed`: a client without one is not let in; else it may have
  // one. An error says what is wrong with which file.
  static Result<std::shared_ptr<TlsPort>> Make(const TlsOptions& options,
                                               bool certificate_needed);
  ~TlsPort() override;

  // How long what it shows is valid. Any thread.
  void AppendSamples(std::vector<SelfSample>* samples) const;

  // Nothing of a call is processed here.
  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) override;

 private:
  TlsPort(bool client_ca, std::unique_ptr<TlsFiles> files,
          bool certificate_needed);
  int AddPortToServer(const std::string& address, grpc_server* server) override;
  // gRPC asks at each handshake; `self` is a TlsPort.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);
  grpc_ssl_certificate_config_reload_status Reload(
      grpc_ssl_server_certificate_config** config);

  const std::unique_ptr<TlsFiles> files_;
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_TLS_PORT_H_
