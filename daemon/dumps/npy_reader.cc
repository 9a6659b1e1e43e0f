#include "dumps/npy_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace nanwatch {
namespace {

nanwatch_dtype FormatOf(const NpyHeader& header) {
  switch (header.dtype) {
    case Dtype::kFp64:
      return NANWATCH_FP64;
    case Dtype::kFp32:
      return NANWATCH_FP32;
    case Dtype::kFp16:
      return NANWATCH_FP16;
    case Dtype::kBf16:
      return NANWATCH_BF16;
    case Dtype::kFp8E4M3:
      return NANWATCH_FP8_E4M3;
    case Dtype::kFp8E5M2:
      return NANWATCH_FP8_E5M2;
    case Dtype::kUnknown:
      break;
  }
  // A digest is of bits: any format of as many.
  switch (header.item_bytes) {
    case 1:
      return NANWATCH_FP8_E4M3;
    case 2:
      return NANWATCH_FP16;
    case 4:
      return NANWATCH_FP32;
    default:
      return NANWATCH_FP64;
  }
}

unsigned WantedOf(const NpyHeader& header) {
  return header.dtype == Dtype::kUnknown
             ? NANWATCH_OBSERVE_DIGEST
             : NANWATCH_OBSERVE_DIGEST | NANWATCH_OBSERVE_SKETCH;
}

}  // namespace

Status NpyReader::Feed(std::string_view bytes) {
  waiting_.append(bytes);
  if (!header_) {
    const Status taken = TakeHeader();
    if (!taken.ok() || !header_) return taken;
  }
  TakeElements();
  return OkStatus();
}

Status NpyReader::TakeHeader() {
  const Result<std::optional<size_t>> end = NpyHeaderEnd(waiting_);
  if (!end.ok()) return Error{end.error()};
  if (!*end || waiting_.size() < **end) return OkStatus();
  const size_t bytes = **end;
  Result<NpyHeader> header =
      ReadNpyHeader(std::string_view(waiting_).substr(0, bytes));
  if (!header.ok()) return Error{header.error()};
  const uint64_t wanted = header->elements * header->item_bytes;
  if (file_bytes_ < bytes || file_bytes_ - bytes != wanted) {
    return Error{fmt::format(
        "its header says {} bytes of elements, and {} are there: it was "
        "cut off or written over",
        wanted, file_bytes_ < bytes ? 0 : file_bytes_ - bytes)};
  }
  waiting_.erase(0, bytes);
  header_ = std::move(*header);
  return OkStatus();
}

void NpyReader::TakeElements() {
  const size_t item = header_->item_bytes;
  const uint64_t left = header_->elements - taken_;
  const size_t n = std::min<uint64_t>(waiting_.size() / item, left);
  if (header_->swapped) {
    for (size_t i = 0; i < n; ++i) {
      const auto at = waiting_.begin() + static_cast<ptrdiff_t>(i * item);
      std::reverse(at, at + static_cast<ptrdiff_t>(item));
    }
  }
  if (header_->by_columns) {
    AddByColumns(n);
  } else {
    nanwatch_sketch_add(&sketch_, waiting_.data(), n, FormatOf(*header_),
                        WantedOf(*header_), taken_);
    taken_ += n;
  }
  waiting_.erase(0, n * item);
}

// Adds stretches in which the first index runs: their elements are as far apart
// in the order of rows as the others have combinations.
void NpyReader::AddByColumns(size_t n) {
  const std::vector<int64_t>& shape = header_->shape;
  const auto rows = static_cast<uint64_t>(shape[0]);
  for (size_t done = 0; done < n;) {
    uint64_t number = 0, rest = taken_ / rows,
             stride = header_->elements / rows;
    const uint64_t row = taken_ % rows, apart = stride;
    for (size_t dim = 1; dim < shape.size(); ++dim) {
      const auto size = static_cast<uint64_t>(shape[dim]);
      stride /= size;
      number += rest % size * stride;
      rest /= size;
    }
    const size_t run = std::min<uint64_t>(n - done, rows - row);
    nanwatch_sketch_add_rows(
        &sketch_, waiting_.data() + done * header_->item_bytes, run, 1, 1,
        FormatOf(*header_), WantedOf(*header_), number + row * apart, apart);
    done += run;
    taken_ += run;
  }
}

Result<NpyTensor> NpyReader::Finish() {
  if (!header_) return Error{"it ends within its header"};
  if (taken_ != header_->elements) {
    return Error{"it became shorter while it was read"};
  }
  NpyTensor read;
  ComparedTensor& tensor = read.tensor;
  tensor.elements = header_->elements;
  tensor.digest = sketch_.digest;
  if (header_->dtype != Dtype::kUnknown) {
    tensor.sketch.emplace();
    nanwatch_sketch_floats(&sketch_, tensor.sketch->data());
    tensor.nan = sketch_.nan;
    tensor.inf = sketch_.inf;
  }
  read.header = std::move(*header_);
  return read;
}

}  // namespace nanwatch
