// WebOptions, and where the HTTP side listens.

#ifndef NANWATCH_WEB_OPTIONS_H_
#define NANWATCH_WEB_OPTIONS_H_

#include <string>
#include <vector>

namespace nanwatch {

struct WebOptions {
  // ADDRESS:PORT, [ADDRESS]:PORT for IPv6; port 0: any free one. Empty: no HTTP
  // at all. The default is inside the range that Prometheus exporters share
  // (9100 to 9999).
  std::string listen = "127.0.0.1:9765";
  // Names under which a browser or scraper may call, beside localhost, this
  // machine's own name and plain IP addresses.
  std::vector<std::string> allowed_hosts;
  // Requests answered at once; others wait. 1 .. 64.
  int threads = 4;
  // Whether browsers on this machine may acknowledge and mute. They are not
  // asked who they are: on a machine of many users, false.
  bool annotations = true;
  // A client that has not sent its request, or reads nothing of the reply, for
  // so long is cut off. Short, since requests are one packet and whoever holds
  // the connection open holds one of the connections served at once, which are
  // `threads` and 128 more. 1 .. 300.
  int timeout_seconds = 2;
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_OPTIONS_H_
