// log_text: a training log on standard output, for the figures of reading them.
//
//   nanwatch-bench-log-text KIND MEGABYTES
//
// KIND: megatron (a line a step among other lines), sparse (a line every 10
// steps, much else between), every_100 (a line every 100 steps and nothing
// else), deepspeed (progress bars, overflows of 8 ranks), key_value, noise (no
// step lines at all).

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string out;
uint64_t written = 0;
uint64_t seed = 88172645463325252ull;

double Uniform() {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return static_cast<double>(seed >> 11) / 9007199254740992.0;
}

[[gnu::format(printf, 1, 2)]] void Print(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  out.append(line, static_cast<size_t>(size));
  written += static_cast<uint64_t>(size);
  if (out.size() > (1 << 20)) {
    std::fwrite(out.data(), 1, out.size(), stdout);
    out.clear();
  }
}

double Loss(int64_t step) {
  return 2 + 8 / (1 + 0.001 * static_cast<double>(step)) +
         0.05 * (Uniform() - 0.5);
}

void Noise(int64_t step) {
  switch (step % 4) {
    case 0:
      Print(
          "[2024-05-0%d 12:%02d:07,%03d] [INFO] [engine.py:1043:save] "
          "[Rank 0] saved a checkpoint to /data/run/global_step%ld, took "
          "%.3f seconds\n",
          static_cast<int>(step % 9) + 1, static_cast<int>(step % 60),
          static_cast<int>(step % 1000), static_cast<long>(step),
          3 * Uniform());
      break;
    case 1:
      Print(
          "time (ms) | forward-compute: %.2f | backward-compute: %.2f | "
          "backward-params-all-reduce: %.2f | optimizer: %.2f | "
          "batch-generator: %.2f\n",
          99 * Uniform(), 199 * Uniform(), 9 * Uniform(), 5 * Uniform(),
          Uniform());
      break;
    case 2:
      Print(
          "/opt/conda/lib/python3.8/site-packages/torch/nn/functional.py:%d:"
          " UserWarning: this overload of nonzero is deprecated\n",
          static_cast<int>(step % 4000));
      break;
    default:
      Print(
          "node%02d: NCCL INFO Channel %02d : %ld[%lx] -> %ld[%lx] via "
          "P2P/IPC/read\n",
          static_cast<int>(step % 64), static_cast<int>(step % 32),
          static_cast<long>(step % 8), static_cast<long>(step % 65536),
          static_cast<long>((step + 1) % 8), static_cast<long>(step % 4096));
  }
}

void Megatron(int64_t step, int64_t every) {
  Print(
      " iteration %8ld/ %8d | consumed samples: %12ld | elapsed time per "
      "iteration (ms): %.1f | learning rate: %.3E | global batch size: %5d "
      "| lm loss: %.6E | loss scale: 65536.0 | grad norm: %.3f | number of "
      "skipped iterations: %3d | number of nan iterations: %3d |\n",
      static_cast<long>(step * every), 100000000,
      static_cast<long>(step * every * 512), 900 + 20 * Uniform(), 1.5e-4, 512,
      Loss(step), 0.5 + 0.2 * Uniform(), 0, 0);
}

void DeepSpeed(int64_t step) {
  Print(
      "\r%3d%%|####      | %ld/1000000 [1:02:03<9:08:07, %.2fit/s, "
      "v_num=0, loss=%.4f]",
      static_cast<int>(step % 100), static_cast<long>(step), 3 * Uniform(),
      Loss(step));
  if (step % 10 != 0) return;
  if (step % 1000 == 0) {
    for (int rank = 0; rank < 8; ++rank) {
      Print(
          "\n[2024-05-01 12:01:07,123] [INFO] [stage3.py:1826:step] "
          "[deepscale] OVERFLOW! Rank %d Skipping step. Attempted loss "
          "scale: 65536, reducing to 32768",
          rank);
    }
  }
  Print(
      "\n[2024-05-01 12:01:07,123] [INFO] [logging.py:60:log_dist] [Rank 0] "
      "step=%ld, skipped=%ld, lr=[0.0001, 0.0001], mom=[[0.9, 0.95], [0.9, "
      "0.95]]\n",
      static_cast<long>(step), static_cast<long>(step / 1000));
}

void KeyValue(int64_t step) {
  Print(
      "2024-05-01 12:01:07 INFO step=%ld loss=%.5f scale=65536.0 "
      "grad_norm=%.4f lr=1.5e-4 tokens_per_s=%.1f\n",
      static_cast<long>(step), Loss(step), 0.5 + 0.2 * Uniform(),
      30000 * Uniform());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  const uint64_t size = std::strtoull(argv[2], nullptr, 10) * 1000000;
  for (int64_t step = 1; written < size; ++step) {
    if (kind == "megatron") Megatron(step, 1);
    if (kind == "sparse") Megatron(step, 10);
    if (kind == "every_100") Megatron(step, 100);
    if (kind == "deepspeed") DeepSpeed(step);
    if (kind == "key_value") KeyValue(step);
    const int64_t lines = kind == "deepspeed"   ? step % 10 == 0
                          : kind == "sparse"    ? 8
                          : kind == "every_100" ? 0
                                                : 1;
    for (int64_t i = 0; i < lines; ++i) Noise(step + i);
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return 0;
}
