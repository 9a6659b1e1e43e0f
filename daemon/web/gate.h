// Gate: who may ask for anything at all, by password or by certificate.

#ifndef NANWATCH_WEB_GATE_H_
#define NANWATCH_WEB_GATE_H_

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/caller.h"
#include "web/http.h"
#include "web/options.h"
#include "web/passwords.h"

namespace nanwatch {

class Gate {
 public:
  // Whose name it is; an error: a sentence why he is not let in.
  using CallerOf = std::function<Result<Caller>(const std::string& name)>;

  explicit Gate(CallerOf caller_of) : caller_of_(std::move(caller_of)) {}

  // nullopt: he may come in, and `request->caller` is who he is, where it was
  // asked. May take as long as a hash of a password. Any thread.
  std::optional<HttpReply> Check(const WebProtection& protection,
                                 HttpRequest* request);

 private:
  // The name that was proven; empty: nobody is asked. Else the refusal.
  std::optional<HttpReply> Identify(const WebProtection& protection,
                                    HttpRequest* request, std::string* name);

  const CallerOf caller_of_;
  Passwords passwords_;
};

// What "Basic ..." holds (RFC 7617). nullopt: nothing of that kind.
struct BasicLogin {
  std::string user;
  std::string password;
};
std::optional<BasicLogin> ParseBasic(std::string_view authorization);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_GATE_H_
