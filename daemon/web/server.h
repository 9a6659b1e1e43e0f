// WebServer: the Site behind a listening socket, on threads of civetweb.

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

  // The port that is listened on, also when 0 was asked for.
  virtual int port() const = 0;
  // "127.0.0.1:9765", with the real port.
  virtual std::string address() const = 0;
  // Takes no new requests and waits for those that run: at most the timeout.
  virtual void Stop() = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_SERVER_H_
