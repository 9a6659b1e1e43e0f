#include <string>

#include "config/sections.h"

namespace nanwatch {
namespace {

bool IsLoopbackAddress(std::string_view address) {
  for (const char* beginning : {"127.", "localhost:", "[::1]:"}) {
    if (address.starts_with(beginning)) return true;
  }
  return false;
}

}  // namespace

void ReadGrpcAddress(YamlSection section, std::string* value) {
  section.Text("address", value);
  std::string& address = *value;
  if (address.starts_with("tcp://")) address.erase(0, 6);
  const bool taken = address.empty() || IsLoopbackAddress(address) ||
                     (address.starts_with("tls://") && address.size() > 8 &&
                      address.find(':', 6) != std::string::npos) ||
                     address.starts_with("unix:/");
  if (taken) return;
  section.Complain("address",
                   " must be tls://HOST:PORT, tcp://127.0.0.1:PORT or "
                   "unix:///PATH: over a network records go by TLS.");
}

void ReadUpstream(YamlSection section, RelayOptions* options) {
  ReadGrpcAddress(section, &options->address);
  section.Know("address");
  section.ClientFiles(&options->ca, &options->cert, &options->key,
                      &options->token_file);
  section.Time("notify_after", std::chrono::seconds(1), std::chrono::hours(24),
               "", &options->notify_after);
  section.Finish();
}

}  // namespace nanwatch
