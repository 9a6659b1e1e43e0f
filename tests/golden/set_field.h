// A step's number by its name, as scenarios say it.

#ifndef NANWATCH_TESTS_GOLDEN_SET_FIELD_H_
#define NANWATCH_TESTS_GOLDEN_SET_FIELD_H_

#include <string>

#include "tests/unit/engine/driver.h"

namespace nanwatch {

// False: there is no such number.
bool SetField(const std::string& field, double value, Row* row);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_GOLDEN_SET_FIELD_H_
