// WebServer: the Site behind a listening socket, one request a connection.

#ifndef NANWATCH_WEB_SERVER_H_
#define NANWATCH_WEB_SERVER_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "web/backend.h"
#include "web/options.h"

namespace nanwatch {

class WebServer {
 public:
  // Listens when it returns. An error names the address and what to do.
  static Result<std::unique_ptr<WebServer>> Start(const WebOptions& options,
                                                  WebBackend backend);
  // Stops: no call of the backend comes after.
  virtual ~WebServer() = default;

  // From the next connection on. An error: the files of TLS are not taken, what
  // was before holds. Any thread.
  virtual Status SetProtection(const WebProtection& protection) = 0;
  // The port that is listened on, also when 0 was asked for.
  virtual int port() const = 0;
  // "127.0.0.1:9765", with the real port.
  virtual std::string address() const = 0;
  // Takes no new requests and waits for those that run, but for no client.
  virtual void Stop() = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_SERVER_H_
