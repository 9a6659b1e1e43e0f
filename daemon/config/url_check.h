// Addresses of others in the configuration, looked at before anything is sent.

#ifndef NANWATCH_CONFIG_URL_CHECK_H_
#define NANWATCH_CONFIG_URL_CHECK_H_

#include <string>
#include <string_view>

namespace nanwatch {

// How a sentence about an http:// or https:// URL that cannot be called goes
// on: " is 'https://am:99999'; ...". Empty: nothing is wrong that can be seen
// without calling it. Of the URL only scheme, host and port are shown: the rest
// may be a secret.
std::string WhatIsWrongWithUrl(std::string_view url);

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_URL_CHECK_H_
