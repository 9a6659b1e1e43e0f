// play: a conformance scenario (README.md) through the C++ client. The address
// and the file are its arguments.

#include <nanwatch.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

constexpr int kTimeoutMs = 20000;

// "@600xab": "ab" 600 times.
std::string Expand(const std::string& text) {
  if (text.empty() || text[0] != '@') return text;
  const size_t x = text.find('x');
  std::string all;
  for (int i = std::stoi(text.substr(1, x - 1)); i > 0; --i) {
    all += text.substr(x + 1);
  }
  return all;
}

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  return parts;
}

// The words of a line, each read once: what is left over is a mistake.
class Line {
 public:
  explicit Line(const std::string& text) {
    std::istringstream stream(text);
    stream >> kind_;
    for (std::string word; stream >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) {
        plain_.push_back(word);
      } else {
        words_[word.substr(0, equals)] = Expand(word.substr(equals + 1));
      }
    }
  }

  const std::string& kind() const { return kind_; }
  const std::string& plain(size_t i) const { return plain_.at(i); }

  bool Take(const std::string& key, std::string* value) {
    const auto at = words_.find(key);
    if (at == words_.end()) return false;
    *value = at->second;
    words_.erase(at);
    return true;
  }
  // Sets `*to` and the bit, where the line has the key.
  template <typename Number, typename Bits>
  void Read(const char* key, Number* to, Bits bit, uint32_t* present) {
    std::string text;
    if (!Take(key, &text)) return;
    if constexpr (std::is_floating_point_v<Number>) {
      *to = static_cast<Number>(std::strtod(text.c_str(), nullptr));
    } else if constexpr (std::is_unsigned_v<Number>) {
      *to = static_cast<Number>(std::stoull(text));
    } else {
      *to = static_cast<Number>(std::stoll(text));
    }
    if (present != nullptr) *present |= bit;
  }
  template <typename Number>
  void Read(const char* key, Number* to) {
    Read(key, to, 0u, nullptr);
  }
  // The place of the key's value in `names`, from 1; 0: there is none.
  int OneOf(const char* key, const std::vector<const char*>& names) {
    std::string text;
    if (!Take(key, &text)) return 0;
    for (size_t i = 0; i < names.size(); ++i) {
      if (text == names[i]) return static_cast<int>(i) + 1;
    }
    throw std::invalid_argument(text);
  }
  std::map<std::string, std::string> TakeAll(const std::string& prefix) {
    std::map<std::string, std::string> taken;
    for (auto at = words_.begin(); at != words_.end();) {
      if (at->first.rfind(prefix, 0) != 0) {
        ++at;
        continue;
      }
      taken[at->first.substr(prefix.size())] = at->second;
      at = words_.erase(at);
    }
    return taken;
  }
  void MustBeRead() const {
    if (!words_.empty()) throw std::invalid_argument(words_.begin()->first);
  }

 private:
  std::string kind_;
  std::vector<std::string> plain_;
  std::map<std::string, std::string> words_;
};

class Player {
 public:
  explicit Player(const char* address) : address_(address) {}

  void Play(const std::string& text) {
    Line line(text);
    const std::string& kind = line.kind();
    if (kind == "open") Open(&line);
    if (kind == "op") Op(&line);
    if (kind == "status") Status(&line);
    if (kind == "step") Step(&line);
    if (kind == "steps") Steps(line);
    if (kind == "flush") Check(nanwatch_flush(session_, kTimeoutMs) == 1);
    if (kind == "close") {
      // What was refused is settled, and not acknowledged.
      Check(nanwatch_flush(session_, kTimeoutMs) == 1);
      nanwatch_close(session_, kTimeoutMs);
    }
    if (kind == "vanish") {
      Check(nanwatch_flush(session_, kTimeoutMs) == 1);
      std::_Exit(0);
    }
    line.MustBeRead();
  }

 private:
  static void Check(bool done) {
    if (!done) throw std::runtime_error("not acknowledged in time");
  }

  void Open(Line* line);
  void Op(Line* line);
  void Status(Line* line);
  void Step(Line* line);
  void Steps(const Line& line);

  const char* address_;
  nanwatch_session* session_ = nullptr;
};

void Player::Open(Line* line) {
  nanwatch_run_options o;
  nanwatch_run_options_init(&o);
  o.address = address_;
  std::map<std::string, std::string> texts;
  const auto text = [&](const char* key, const char** to) {
    if (line->Take(key, &texts[key])) *to = texts[key].c_str();
  };
  text("job", &o.job);
  text("run", &o.run_id);
  text("framework", &o.framework);
  text("precision", &o.precision);
  text("host", &o.host);
  text("device", &o.device);
  text("device_id", &o.device_id);
  text("scaler.name", &o.scaler.name);
  line->Read("attempt", &o.attempt, NANWATCH_RUN_ATTEMPT, &o.present);
  line->Read("rank", &o.rank, NANWATCH_RUN_RANK, &o.present);
  line->Read("local_rank", &o.local_rank, NANWATCH_RUN_LOCAL_RANK, &o.present);
  line->Read("world_size", &o.world_size, NANWATCH_RUN_WORLD_SIZE, &o.present);
  line->Read("clip_norm", &o.clip_norm, NANWATCH_RUN_CLIP_NORM, &o.present);
  line->Read("seed", &o.seed, NANWATCH_RUN_SEED, &o.present);
  for (auto [key, to] :
       {std::pair("dp", &o.dp), std::pair("tp", &o.tp), std::pair("pp", &o.pp),
        std::pair("ep", &o.ep), std::pair("cp", &o.cp)}) {
    line->Read(key, to);
  }
  o.overflow_mode = static_cast<nanwatch_overflow_mode>(
      line->OneOf("overflow_mode", {"inf_nan", "saturation"}));
  nanwatch_scaler& s = o.scaler;
  s.kind = static_cast<nanwatch_scaling>(
      line->OneOf("scaler.kind", {"none", "static", "dynamic", "layerwise"}));
  const auto scaler = [&](const char* key, auto* to, uint32_t bit) {
    line->Read(key, to, bit, &s.present);
  };
  scaler("scaler.init_scale", &s.init_scale, NANWATCH_SCALER_INIT_SCALE);
  scaler("scaler.growth_factor", &s.growth_factor,
         NANWATCH_SCALER_GROWTH_FACTOR);
  scaler("scaler.backoff_factor", &s.backoff_factor,
         NANWATCH_SCALER_BACKOFF_FACTOR);
  scaler("scaler.growth_interval", &s.growth_interval,
         NANWATCH_SCALER_GROWTH_INTERVAL);
  scaler("scaler.hysteresis", &s.hysteresis, NANWATCH_SCALER_HYSTERESIS);
  scaler("scaler.min_scale", &s.min_scale, NANWATCH_SCALER_MIN_SCALE);
  scaler("scaler.max_scale", &s.max_scale, NANWATCH_SCALER_MAX_SCALE);
  scaler("scaler.overflow_check", &s.overflow_check,
         NANWATCH_SCALER_OVERFLOW_CHECK);
  const auto given = line->TakeAll("setting.");
  std::vector<nanwatch_setting> settings;
  for (const auto& [key, value] : given) {
    settings.push_back({key.c_str(), value.c_str()});
  }
  o.settings = settings.data();
  o.settings_count = settings.size();
  session_ = nanwatch_open(&o);
}

std::vector<int64_t> Shape(Line* line, const char* key) {
  std::string text;
  std::vector<int64_t> shape;
  if (!line->Take(key, &text)) return shape;
  for (const std::string& dim : Split(text, ',')) {
    shape.push_back(std::stoll(dim));
  }
  return shape;
}

void Player::Op(Line* line) {
  const std::string name = Expand(line->plain(0));
  std::string type;
  std::string format;
  nanwatch_op op;
  nanwatch_op_init(&op, name.c_str());
  if (line->Take("type", &type)) op.type = type.c_str();
  if (line->Take("data_format", &format)) op.data_format = format.c_str();
  op.dtype = static_cast<nanwatch_dtype>(line->OneOf(
      "dtype", {"fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"}));
  const std::vector<int64_t> logical = Shape(line, "shape");
  const std::vector<int64_t> storage = Shape(line, "storage_shape");
  op.logical_shape = logical.data();
  op.logical_dims = logical.size();
  op.storage_shape = storage.data();
  op.storage_dims = storage.size();
  line->Read("order", &op.order);
  line->Read("part", &op.part);
  nanwatch_op_register(session_, &op);
}

void Player::Status(Line* line) {
  nanwatch_op_status s;
  nanwatch_op_status_init(&s, 0, 0, NANWATCH_SLOT_OUTPUT);
  line->Read("op", &s.op);
  line->Read("step", &s.step);
  s.slot = static_cast<nanwatch_slot>(
      line->OneOf("slot", {"input", "output", "grad_input", "grad_output",
                           "parameter", "optimizer_state", "collective"}));
  line->Read("elements", &s.elements, NANWATCH_OP_ELEMENTS, &s.present);
  line->Read("nan", &s.nan, NANWATCH_OP_NAN, &s.present);
  line->Read("pos_inf", &s.pos_inf, NANWATCH_OP_POS_INF, &s.present);
  line->Read("neg_inf", &s.neg_inf, NANWATCH_OP_NEG_INF, &s.present);
  line->Read("saturated", &s.saturated, NANWATCH_OP_SATURATED, &s.present);
  line->Read("zero", &s.zero, NANWATCH_OP_ZERO, &s.present);
  line->Read("subnormal", &s.subnormal, NANWATCH_OP_SUBNORMAL, &s.present);
  line->Read("min", &s.min, NANWATCH_OP_MIN, &s.present);
  line->Read("max", &s.max, NANWATCH_OP_MAX, &s.present);
  line->Read("abs_max", &s.abs_max, NANWATCH_OP_ABS_MAX, &s.present);
  line->Read("mean", &s.mean, NANWATCH_OP_MEAN, &s.present);
  line->Read("rms", &s.rms, NANWATCH_OP_RMS, &s.present);
  line->Read("log2_mean", &s.log2_mean, NANWATCH_OP_LOG2_MEAN, &s.present);
  line->Read("log2_std", &s.log2_std, NANWATCH_OP_LOG2_STD, &s.present);
  line->Read("fp8_amax", &s.fp8_amax, NANWATCH_OP_FP8_AMAX, &s.present);
  line->Read("fp8_scale_inv", &s.fp8_scale_inv, NANWATCH_OP_FP8_SCALE_INV,
             &s.present);
  line->Read("device_flag", &s.device_flag, NANWATCH_OP_DEVICE_FLAG,
             &s.present);
  line->Read("digest", &s.digest, NANWATCH_OP_DIGEST, &s.present);
  line->Read("request", &s.request_id);
  nanwatch_exponents exponents = {};
  std::string text;
  if (line->Take("exponents", &text)) {
    exponents.first = std::stoi(text);
    for (const std::string& count : Split(Split(text, ':').at(1), ',')) {
      exponents.counts[exponents.size++] = std::stoull(count);
    }
    s.exponents = &exponents;
  }
  std::vector<float> sketch;
  if (line->Take("sketch", &text)) {
    for (const std::string& sum : Split(text, ',')) {
      sketch.push_back(std::stof(sum));
    }
    s.sketch = sketch.data();
  }
  nanwatch_push_op(session_, &s);
}

void Player::Step(Line* line) {
  nanwatch_step s;
  nanwatch_step_init(&s, std::stoll(line->plain(0)));
  line->Read("loss", &s.loss, NANWATCH_STEP_LOSS, &s.present);
  line->Read("scale", &s.loss_scale, NANWATCH_STEP_LOSS_SCALE, &s.present);
  line->Read("grad_norm", &s.grad_norm, NANWATCH_STEP_GRAD_NORM, &s.present);
  line->Read("update_norm", &s.update_norm, NANWATCH_STEP_UPDATE_NORM,
             &s.present);
  line->Read("param_norm", &s.param_norm, NANWATCH_STEP_PARAM_NORM, &s.present);
  line->Read("lr", &s.learning_rate, NANWATCH_STEP_LEARNING_RATE, &s.present);
  line->Read("zero_fraction", &s.zero_fraction, NANWATCH_STEP_ZERO_FRACTION,
             &s.present);
  line->Read("underflow_fraction", &s.underflow_fraction,
             NANWATCH_STEP_UNDERFLOW_FRACTION, &s.present);
  line->Read("consumed_samples", &s.consumed_samples,
             NANWATCH_STEP_CONSUMED_SAMPLES, &s.present);
  line->Read("applied_grad_norm", &s.applied_grad_norm,
             NANWATCH_STEP_APPLIED_GRAD_NORM, &s.present);
  line->Read("overflow", &s.overflow, NANWATCH_STEP_OVERFLOW, &s.present);
  line->Read("skipped", &s.skipped, NANWATCH_STEP_SKIPPED, &s.present);
  line->Read("replica_digest", &s.replica_digest, NANWATCH_STEP_REPLICA_DIGEST,
             &s.present);
  line->Read("batch_digest", &s.batch_digest, NANWATCH_STEP_BATCH_DIGEST,
             &s.present);
  line->Read("float_status_combined", &s.float_status_combined);
  line->Read("request", &s.request_id);
  std::string text;
  if (line->Take("optimizer", &text)) {
    s.optimizer = nanwatch_optimizer_register(session_, text.c_str());
  }
  if (line->Take("float_status", &text)) {
    for (const std::string& word : Split(text, ',')) {
      s.float_status[s.float_status_words++] = std::stoi(word);
    }
    s.present |= NANWATCH_STEP_FLOAT_STATUS;
  }
  std::vector<nanwatch_layer_scale> scales;
  if (line->Take("layer_scales", &text)) {
    for (const std::string& pair : Split(text, ',')) {
      const std::vector<std::string> parts = Split(pair, ':');
      scales.push_back({std::stoi(parts.at(0)), 0, std::stod(parts.at(1))});
    }
  }
  s.layer_scales = scales.data();
  s.layer_scales_count = scales.size();
  nanwatch_push_step(session_, &s);
}

void Player::Steps(const Line& line) {
  for (int64_t i = std::stoll(line.plain(0)); i < std::stoll(line.plain(1));
       ++i) {
    nanwatch_step s;
    nanwatch_step_init(&s, i);
    s.loss = 2.0 + static_cast<double>(i * 7919 % 1000) / 1000;
    s.loss_scale = 1024;
    s.present = NANWATCH_STEP_LOSS | NANWATCH_STEP_LOSS_SCALE;
    nanwatch_push_step(session_, &s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "play ADDRESS FILE\n");
    return 2;
  }
  try {
    Player player(argv[1]);
    std::ifstream file(argv[2]);
    for (std::string text; std::getline(file, text);) {
      if (!text.empty() && text[0] != '#') player.Play(text);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "play: %s\n", error.what());
    return 1;
  }
  return 0;
}
