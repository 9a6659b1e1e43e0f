// A directory that goes with the test.

#ifndef NANWATCH_TESTS_UNIT_RPC_TEMP_DIR_H_
#define NANWATCH_TESTS_UNIT_RPC_TEMP_DIR_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace nanwatch {

class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/nanwatch-rpc-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_RPC_TEMP_DIR_H_
