// Runs a fuzz target over every file of its corpus, and over each file cut at
// every length and with single bytes changed: what libFuzzer found once stays
// found, without libFuzzer.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kCutsMax = 512;

std::vector<uint8_t> Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void RunAround(std::vector<uint8_t> bytes) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  const size_t stride = bytes.size() / kCutsMax + 1;
  for (size_t at = 0; at < bytes.size(); at += stride) {
    LLVMFuzzerTestOneInput(bytes.data(), at);
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      bytes[at] ^= flip;
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      bytes[at] ^= flip;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    RunAround(Read(entry.path()));
    ++files;
  }
  std::printf("%zu files of %s\n", files, argv[1]);
  return files > 0 ? 0 : 1;
}
