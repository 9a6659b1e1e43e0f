// Accounts and groups, as the name service knows them.

#ifndef NANWATCH_RPC_ACCOUNT_H_
#define NANWATCH_RPC_ACCOUNT_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace nanwatch {

// nullopt: there is no account of that number. Any thread.
std::optional<std::string> AccountName(uid_t uid);
// All that the account is a member of; empty: there is no such account. Any
// thread.
std::vector<gid_t> AccountGroups(uid_t uid);
// nullopt: there is no group of that name. Any thread.
std::optional<gid_t> GroupNumber(const std::string& name);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_ACCOUNT_H_
