// A number that a C program put into an enum of nanwatch.h, be it one of the
// enum or not. To read it as the enum would be undefined in C++.

#ifndef NANWATCH_CLIENT_ENUM_NUMBER_H_
#define NANWATCH_CLIENT_ENUM_NUMBER_H_

#include <cstring>

namespace nanwatch_client {

template <typename Enum>
int EnumNumber(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_ENUM_NUMBER_H_
