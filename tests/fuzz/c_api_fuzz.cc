// The C API with whatever a program may do to it: calls in any order, structs
// with any bytes, sizes old and new. Nobody listens at the address. What the
// header forbids (wild pointers) is not tried.

#include <nanwatch.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

// Takes values off the front of the fuzzer's bytes; zeros when they are used
// up.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  void Fill(void* to, size_t size) {
    memset(to, 0, size);
    const size_t taken = std::min(size, left_);
    if (taken != 0) memcpy(to, data_, taken);
    data_ += taken;
    left_ -= taken;
  }
  template <typename T>
  T Take() {
    T value;
    Fill(&value, sizeof value);
    return value;
  }
  bool Flip() { return (Take<uint8_t>() & 1) != 0; }
  std::string Text() {
    std::string text(Take<uint8_t>() * 4, '\0');
    Fill(text.data(), text.size());
    return text;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

// A struct of any bytes; its size is true, so that nothing beyond is read.
template <typename T>
T AnyStruct(Input* input) {
  T value = input->Take<T>();
  value.struct_size %= sizeof value + 1;
  return value;
}

void PushStep(nanwatch_session* session, Input* input) {
  std::vector<nanwatch_layer_scale> scales(input->Take<uint8_t>() % 8);
  for (auto& scale : scales) scale = input->Take<nanwatch_layer_scale>();
  nanwatch_step step = AnyStruct<nanwatch_step>(input);
  if (input->Flip()) step.struct_size = sizeof step;
  step.layer_scales = scales.empty() ? nullptr : scales.data();
  step.layer_scales_count = scales.size();
  nanwatch_push_step(session, &step);
}

float* AnySketch(Input* input) {
  static float sums[NANWATCH_SKETCH_SUMS];
  if (!input->Flip()) return nullptr;
  input->Fill(sums, sizeof sums);
  return sums;
}

void PushOp(nanwatch_session* session, Input* input) {
  static nanwatch_exponents exponents;
  nanwatch_op_status status = AnyStruct<nanwatch_op_status>(input);
  if (input->Flip()) status.struct_size = sizeof status;
  exponents.first = input->Take<int32_t>();
  exponents.size = input->Take<uint32_t>();
  status.op = status.op % 8;
  status.exponents = input->Flip() ? &exponents : nullptr;
  status.sketch = AnySketch(input);
  nanwatch_push_op(session, &status);
}

void Register(nanwatch_session* session, Input* input) {
  const std::string name = input->Text();
  const std::string type = input->Text();
  int64_t shape[20];
  input->Fill(shape, sizeof shape);
  nanwatch_op op;
  nanwatch_op_init(&op, input->Flip() ? name.c_str() : nullptr);
  op.type = type.c_str();
  op.dtype = static_cast<nanwatch_dtype>(input->Take<uint8_t>() % 16);
  op.order = input->Take<int32_t>();
  op.logical_shape = shape;
  op.logical_dims = input->Take<uint8_t>() % 21;
  op.storage_shape = input->Flip() ? shape : nullptr;
  op.storage_dims = input->Take<uint8_t>() % 21;
  nanwatch_op_register(session, &op);
  nanwatch_optimizer_register(session, type.c_str());
}

void Observe(Input* input) {
  static nanwatch_exponents exponents;
  const std::string data = input->Text();
  const auto dtype = static_cast<nanwatch_dtype>(input->Take<uint8_t>() % 8);
  const size_t width = dtype == NANWATCH_FP64       ? 8
                       : dtype == NANWATCH_FP32     ? 4
                       : dtype >= NANWATCH_FP8_E4M3 ? 1
                                                    : 2;
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, 0, 0, NANWATCH_SLOT_OUTPUT);
  status.exponents = input->Flip() ? &exponents : nullptr;
  status.sketch = AnySketch(input);
  nanwatch_observe(data.data(), data.size() / width, dtype,
                   input->Take<uint8_t>(), &status);
}

void Ask(nanwatch_session* session, Input* input) {
  nanwatch_request request = AnyStruct<nanwatch_request>(input);
  nanwatch_poll(session, &request);
  nanwatch_stats stats;
  nanwatch_stats_init(&stats);
  stats.struct_size = input->Take<uint32_t>() % (sizeof stats + 1);
  nanwatch_get_stats(session, &stats);
}

nanwatch_session* Open(Input* input) {
  const std::string text = input->Text();
  const nanwatch_setting settings[] = {{text.c_str(), text.c_str()},
                                       {nullptr, text.c_str()}};
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.present = input->Take<uint32_t>();
  options.rank = input->Take<int32_t>();
  options.local_rank = input->Take<int32_t>();
  options.world_size = input->Take<int32_t>();
  options.attempt = input->Take<int32_t>();
  options.scaler.kind =
      static_cast<nanwatch_scaling>(input->Take<uint8_t>() % 8);
  options.scaler.present = input->Take<uint32_t>();
  options.scaler.name = text.c_str();
  options.run_id = text.c_str();
  options.job = text.c_str();
  options.settings = settings;
  options.settings_count = 2;
  options.ring_bytes = input->Take<uint16_t>();
  options.unacked_bytes = input->Take<uint16_t>();
  options.address = "unix:/nowhere/nanwatch.sock";
  return nanwatch_open(&options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  nanwatch_session* session = Open(&input);
  for (int calls = 0; calls < 256 && !input.empty(); ++calls) {
    switch (input.Take<uint8_t>() % 6) {
      case 0:
      case 1:
        PushStep(session, &input);
        break;
      case 2:
        PushOp(session, &input);
        break;
      case 3:
        Register(session, &input);
        break;
      case 4:
        Observe(&input);
        break;
      case 5:
        Ask(session, &input);
        break;
    }
  }
  nanwatch_close(session, 0);
  return 0;
}
