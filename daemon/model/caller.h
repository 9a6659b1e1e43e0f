// Caller: who is behind a call, and what of a run he may do.

#ifndef NANWATCH_MODEL_CALLER_H_
#define NANWATCH_MODEL_CALLER_H_

#include <string>
#include <string_view>

namespace nanwatch {

// Default: nobody was asked who he is, as over TCP.
struct Caller {
  std::string name;    // of the account; where there is none, `number`
  std::string number;  // "uid 1000"
  bool admin = false;
  // Where the call came from: "pid 4242", "10.1.2.3:41000"; over HTTP a host.
  std::string from;
};

// True when `caller` may change a run of `owner`: open its ranks, resume its
// sessions, mute, acknowledge, stop. An empty owner is not known: anybody may.
bool MayChange(std::string_view owner, const Caller& caller);

// Why `caller` may not, and what to do, in one sentence.
std::string WhyNotChange(std::string_view run_id, std::string_view owner,
                         const Caller& caller);

// Who says something of a run, for people to read: "root"; "ann (root)" when
// the caller calls itself otherwise than its account; "ann (unverified)" when
// nobody knows.
std::string Speaker(const std::string& said, const std::string& caller);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_CALLER_H_
