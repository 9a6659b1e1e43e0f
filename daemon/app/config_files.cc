#include "app/config_files.h"

#include "net/tls_files.h"
#include "rpc/tokens.h"

namespace nanwatch {

Status TryConfigFiles(const DaemonConfig& config) {
  const RpcOptions& ingest = config.server;
  if (!ingest.tls.certificate.empty()) {
    const Result<TlsTexts> read = ReadTls(ingest.tls);
    if (!read.ok()) return Error{"ingest.tls: " + read.error() + "."};
  }
  if (!ingest.tokens.empty()) {
    const Status read = Tokens(ingest.tokens).Load();
    if (!read.ok()) return Error{"ingest.tokens: " + read.error() + "."};
  }
  return OkStatus();
}

}  // namespace nanwatch
