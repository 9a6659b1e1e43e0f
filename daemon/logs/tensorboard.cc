#include "logs/tensorboard.h"

#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

namespace nanwatch {
namespace {

using google::protobuf::io::CodedInputStream;

// Fields of TensorFlow's event.proto, summary.proto and tensor.proto, of which
// we read a few.
enum EventField { kEventStep = 2, kEventSummary = 5 };
enum SummaryField { kSummaryValue = 1 };
enum ValueField { kValueTag = 1, kSimpleValue = 2, kValueTensor = 8 };
enum TensorField { kDtype = 1, kContent = 4, kFloats = 5, kDoubles = 6 };
enum Dtype : uint64_t { kFloat = 1, kDouble = 2 };

// One field of a message: its bytes (of a string or message) or its number, of
// 1, 4 or 8 bytes, as an integer.
struct Field {
  int number = 0;
  uint64_t bits = 0;
  std::string_view bytes;
};

// Calls `on_field` for each. False: the message is damaged; fields before were
// given.
bool ReadMessage(std::string_view message,
                 const std::function<void(const Field&)>& on_field) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  while (const uint32_t tag = in.ReadTag()) {
    Field field;
    field.number = static_cast<int>(tag >> 3);
    uint32_t size = 0;
    switch (tag & 7) {
      case 0:
        if (!in.ReadVarint64(&field.bits)) return false;
        break;
      case 1:
        if (!in.ReadLittleEndian64(&field.bits)) return false;
        break;
      case 2: {
        if (!in.ReadVarint32(&size)) return false;
        const int at = in.CurrentPosition();
        if (size > message.size() || !in.Skip(static_cast<int>(size))) {
          return false;
        }
        field.bytes = message.substr(static_cast<size_t>(at), size);
        break;
      }
      case 5:
        if (!in.ReadLittleEndian32(&size)) return false;
        field.bits = size;
        break;
      default:
        return false;
    }
    on_field(field);
  }
  return in.ConsumedEntireMessage();
}

template <typename T>
std::optional<double> OneNumber(std::string_view bytes) {
  T value;
  if (bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return static_cast<double>(value);
}

double FloatOf(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

// A tensor of one number; others are curves and texts.
std::optional<double> TensorNumber(std::string_view tensor) {
  uint64_t dtype = 0;
  std::optional<double> number;
  int numbers = 0;
  std::string_view content;
  const bool whole = ReadMessage(tensor, [&](const Field& field) {
    if (field.number == kDtype) dtype = field.bits;
    if (field.number == kContent) content = field.bytes;
    if (field.number == kFloats) {
      ++numbers;
      number = field.bytes.empty() ? FloatOf(field.bits)
                                   : OneNumber<float>(field.bytes);
    } else if (field.number == kDoubles) {
      ++numbers;
      number = field.bytes.empty() ? std::bit_cast<double>(field.bits)
                                   : OneNumber<double>(field.bytes);
    }
  });
  if (!whole || numbers > 1) return std::nullopt;
  if (dtype == kFloat && !content.empty()) return OneNumber<float>(content);
  if (dtype == kDouble && !content.empty()) return OneNumber<double>(content);
  return dtype == kFloat || dtype == kDouble ? number : std::nullopt;
}

}  // namespace

TensorBoardReader::TensorBoardReader(const ColumnMap& map, FactSink sink)
    : names_(map),
      sink_(std::move(sink)),
      file_([this](std::string_view r) { TakeRecord(r); }) {}

void TensorBoardReader::TakeRecord(std::string_view record) {
  int64_t step = 0;
  std::string_view summary;
  const bool whole = ReadMessage(record, [&](const Field& field) {
    if (field.number == kEventStep) step = static_cast<int64_t>(field.bits);
    if (field.number == kEventSummary) summary = field.bytes;
  });
  if (whole && step >= 0 && !summary.empty()) TakeSummary(summary, step);
}

void TensorBoardReader::TakeSummary(std::string_view summary, int64_t step) {
  ReadMessage(summary, [&](const Field& field) {
    if (field.number == kSummaryValue) TakeValue(field.bytes, step);
  });
}

void TensorBoardReader::TakeValue(std::string_view value, int64_t step) {
  std::string_view tag;
  std::optional<double> number;
  const bool whole = ReadMessage(value, [&](const Field& field) {
    if (field.number == kValueTag) tag = field.bytes;
    if (field.number == kSimpleValue) number = FloatOf(field.bits);
    if (field.number == kValueTensor) number = TensorNumber(field.bytes);
  });
  if (whole && number) Take(tag, step, *number);
}

void TensorBoardReader::Take(std::string_view tag, int64_t step,
                             double number) {
  const ColumnMeaning meaning = names_.Of(tag);
  if (meaning == ColumnMeaning::kNothing || meaning == ColumnMeaning::kStep) {
    return;
  }
  Owner& owner = owners_[static_cast<size_t>(meaning)];
  if (owner.tag.empty()) owner.tag = tag;
  if (owner.tag != tag) return;
  if (step == owner.newest) return;  // written twice
  // The same tag goes back: the training began again, from a checkpoint.
  if (step < owner.newest) {
    Flush();
    for (Owner& other : owners_) other.newest = -1;
    told_ = -1;
  }
  owner.newest = step;
  if (step <= told_) return;  // came too late for its step
  const auto [held, fresh] = waiting_.try_emplace(step);
  Step& waiting = held->second;
  if (fresh) {
    waiting.fact.Begin(0);
    waiting.fact.AddNumber(ColumnMeaning::kStep, static_cast<double>(step));
  }
  waiting.fact.AddNumber(meaning, number);
  waiting.record = file_.records();
  if (waiting_.size() > kWindow) TellFirst();
}

void TensorBoardReader::TellFirst() {
  const auto first = waiting_.begin();
  told_ = first->first;
  if (first->second.fact.SaysHealth()) {
    sink_(first->second.fact.fact(), first->second.record);
  }
  waiting_.erase(first);
}

void TensorBoardReader::Flush() {
  while (!waiting_.empty()) TellFirst();
}

void TensorBoardReader::Finish() {
  file_.Finish();
  Flush();
}

}  // namespace nanwatch
