// Bytes into the wire border: as an IngestRequest on a stream that was told a
// few ops, and as a stored event. Whatever is taken is valid in itself, and a
// stored event that is taken goes out as it came in.

#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/event_codec.h"
#include "wire/message_weight.h"
#include "wire/parse.h"

namespace {

using nanwatch::Event;
using nanwatch::OpShapes;
using nanwatch::Parsed;

void NameFewOps(OpShapes* shapes) {
  nanwatch::OpNames names;
  for (int64_t op = 0; op < 8; ++op) {
    names.ops.push_back(
        {"op", "", "", nanwatch::Dtype::kFp16, {op, 64}, {}, 0});
  }
  shapes->Take(names);
}

// What detectors rely on without looking.
void CheckSteps(const nanwatch::StepColumns& columns) {
  const size_t rows = columns.rows();
  CHECK(rows > 0 && columns.time.size() == rows);
  for (const auto& field : columns.field) {
    CHECK(!field || field->values.size() == rows);
  }
  CHECK(columns.optimizer.empty() || columns.optimizer.size() == rows);
  for (const auto& status : columns.float_status) CHECK(status.row < rows);
  for (const auto& scale : columns.layer_scales) CHECK(scale.row < rows);
  nanwatch::StepReader reader(columns);
  nanwatch::StepRecord record;
  while (reader.Next(&record)) CHECK(record.step >= 0);
}

void CheckOps(const nanwatch::OpColumns& columns, size_t known) {
  const size_t rows = columns.rows();
  CHECK(rows > 0 && columns.groups.back().end == rows &&
        columns.slot.size() == rows && columns.elements.size() == rows);
  for (size_t row = 0; row < rows; ++row) {
    CHECK(columns.op[row] < known);
    const nanwatch::OpStatus status = nanwatch::ReadRow(columns, row);
    if (status.elements == 0) continue;
    CHECK(status.BadElements(true) <= status.elements);
  }
  for (const auto& one : columns.exponents) CHECK(one.row < rows);
}

void TryMessage(const uint8_t* data, int size) {
  nanwatch::v1::IngestRequest request;
  OpShapes shapes;
  NameFewOps(&shapes);
  const bool whole = request.ParseFromArray(data, size);
  const Parsed parsed = whole ? nanwatch::Parse(request, &shapes)
                              : nanwatch::ParseMalformed(request, size);
  if (parsed.refused) {
    CHECK(!parsed.refused->message.empty());
    return;
  }
  CHECK(whole && nanwatch::WeightOf(parsed.message) > 0);
  const auto& body = parsed.message.body;
  if (const auto* steps = std::get_if<nanwatch::StepBatch>(&body)) {
    CheckSteps(steps->columns);
  } else if (const auto* ops = std::get_if<nanwatch::OpBatch>(&body)) {
    CheckOps(ops->columns, shapes.size());
  }
}

void TryEvent(std::string_view bytes) {
  const nanwatch::Result<Event> event = nanwatch::DecodeEvent(bytes);
  if (!event) return;
  std::string once;
  EncodeEvent(*event, &once);
  const nanwatch::Result<Event> again = nanwatch::DecodeEvent(once);
  CHECK(again.ok());
  std::string twice;
  EncodeEvent(*again, &twice);
  CHECK(once.size() == twice.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // It would say of every string that it is not UTF-8.
  [[maybe_unused]] static const bool quiet =
      (google::protobuf::SetLogHandler(nullptr), true);
  if (size > (1 << 20)) return 0;
  TryMessage(data, static_cast<int>(size));
  TryEvent({reinterpret_cast<const char*>(data), size});
  return 0;
}
