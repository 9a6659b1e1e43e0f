// Runs a fuzz target over every file of its corpus, and over each file cut and
// with single bytes changed: what libFuzzer found once stays found, without
// libFuzzer.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Of a file, and of all: some seconds of the slowest target. Ours.
constexpr size_t kCutsMax = 512;
constexpr size_t kCutsOfAll = 8192;

std::vector<uint8_t> Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void RunAround(std::vector<uint8_t> bytes, size_t cuts) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  const size_t stride = bytes.size() / cuts + 1;
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
  std::vector<std::vector<uint8_t>> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    files.push_back(Read(entry.path()));
  }
  if (files.empty()) return 1;
  const size_t cuts =
      std::clamp<size_t>(kCutsOfAll / files.size(), 1, kCutsMax);
  for (const std::vector<uint8_t>& file : files) RunAround(file, cuts);
  std::printf("%zu files of %s\n", files.size(), argv[1]);
  return 0;
}
