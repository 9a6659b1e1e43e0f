// must_die BUG: does what a sanitizer must not let pass. Ended by its report,
// the sanitizer is on; ended well, a green run under it would prove nothing.

#include <cstdio>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>

namespace {

int ReadPastTheEnd() {
  const std::unique_ptr<int[]> values(new int[16]());
  volatile int past = 16;  // Hidden from the compiler, which warns.
  return values[past];
}

int OverflowSigned() {
  volatile int most = std::numeric_limits<int>::max();
  return most + 1;
}

int Race() {
  // Often: of two accesses in the same instant ThreadSanitizer may see neither.
  static volatile int shared = 0;
  const auto touch = [] {
    for (int i = 0; i < 1000; ++i) shared = shared + 1;
  };
  std::thread other(touch);
  touch();
  other.join();
  return shared;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view bug = argc > 1 ? argv[1] : "";
  if (bug == "address") std::printf("%d\n", ReadPastTheEnd());
  if (bug == "undefined") std::printf("%d\n", OverflowSigned());
  if (bug == "thread") std::printf("%d\n", Race());
  return 0;
}
