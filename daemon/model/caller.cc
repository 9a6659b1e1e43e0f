#include "model/caller.h"

namespace nanwatch {

bool MayChange(std::string_view owner, const Caller& caller) {
  if (owner.empty() || caller.admin) return true;
  // The number, too: the account's name may have been out of reach when the run
  // was opened.
  return !caller.name.empty() &&
         (owner == caller.name || owner == caller.number);
}

std::string WhyNotChange(std::string_view run_id, std::string_view owner,
                         const Caller& caller) {
  const std::string whose(owner);
  const std::string you =
      caller.name.empty()
          ? "this connection does not say who you are: use the unix socket"
          : "you are " + caller.name + ": use a run id of your own";
  return "run \"" + std::string(run_id) + "\" belongs to " + whose + ", and " +
         you + ", or ask " + whose + " or an administrator (access.admins)";
}

std::string Speaker(const std::string& said, const std::string& caller) {
  if (caller.empty()) {
    return (said.empty() ? "somebody" : said) + " (unverified)";
  }
  if (said.empty() || said == caller) return caller;
  return said + " (" + caller + ")";
}

}  // namespace nanwatch
