// The name of a user's account.

#ifndef NANWATCH_RPC_ACCOUNT_H_
#define NANWATCH_RPC_ACCOUNT_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace nanwatch {

// nullopt: there is no account of that number. Any thread.
std::optional<std::string> AccountName(uid_t uid);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_ACCOUNT_H_
