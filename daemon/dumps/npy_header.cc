#include "dumps/npy_header.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <limits>
#include <system_error>

namespace nanwatch {
namespace {

// Before the length: the mark and the version.
constexpr size_t kBeforeLength = 8;

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return number;
}

// A file's own words in a sentence about it.
std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return '"' + shown + '"';
}

// Reads the dict as numpy writes it, nothing else of Python.
class DictScan {
 public:
  explicit DictScan(std::string_view text) : text_(text) {}

  bool Skip(char c) {
    SkipSpaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::string_view> Text() {
    SkipSpaces();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      return std::nullopt;
    }
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return found;
  }
  std::optional<bool> Bool() {
    SkipSpaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    return std::nullopt;
  }
  // "(3, 4)", "(3,)", "()"; Python 2 wrote "(3L, 4L)".
  std::optional<std::vector<int64_t>> Shape() {
    if (!Skip('(')) return std::nullopt;
    std::vector<int64_t> shape;
    while (!Skip(')')) {
      SkipSpaces();
      int64_t dim = 0;
      const char* end = text_.data() + text_.size();
      const auto [last, error] = std::from_chars(text_.data() + at_, end, dim);
      if (error != std::errc() || dim < 0 || shape.size() == kNpyDims) {
        return std::nullopt;
      }
      at_ = static_cast<size_t>(last - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;
      shape.push_back(dim);
      if (Skip(',')) continue;
      if (!Skip(')')) return std::nullopt;
      break;
    }
    return shape;
  }
  bool AtEnd() {
    SkipSpaces();
    return at_ == text_.size();
  }

 private:
  void SkipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// How an element is written: "<f4". V2 is what ml_dtypes' bfloat16 becomes.
Status TakeFormat(std::string_view descr, NpyHeader* header) {
  struct Format {
    std::string_view name;
    size_t bytes;
    Dtype dtype;
  };
  constexpr Format kFormats[] = {
      {"f2", 2, Dtype::kFp16},    {"f4", 4, Dtype::kFp32},
      {"f8", 8, Dtype::kFp64},    {"V2", 2, Dtype::kBf16},
      {"f1", 1, Dtype::kFp8E5M2}, {"b1", 1, Dtype::kUnknown},
      {"i1", 1, Dtype::kUnknown}, {"u1", 1, Dtype::kUnknown},
      {"i2", 2, Dtype::kUnknown}, {"u2", 2, Dtype::kUnknown},
      {"i4", 4, Dtype::kUnknown}, {"u4", 4, Dtype::kUnknown},
      {"i8", 8, Dtype::kUnknown}, {"u8", 8, Dtype::kUnknown}};
  if (descr.size() == 3) {
    const size_t order = std::string_view("<>|=").find(descr[0]);
    for (const Format& format : kFormats) {
      if (order == std::string_view::npos || descr.substr(1) != format.name) {
        continue;
      }
      header->swapped = order == 1 && format.bytes > 1;
      header->item_bytes = format.bytes;
      header->dtype = format.dtype;
      return OkStatus();
    }
  }
  return Error{fmt::format(
      "its elements are {}, which is not read; save them as floating-point "
      "numbers or integers",
      Quoted(descr))};
}

// A product that fits in memory's own numbers, with the size of an element.
Status CountElements(NpyHeader* header) {
  uint64_t elements = 1;
  const uint64_t most =
      std::numeric_limits<int64_t>::max() / header->item_bytes;
  for (const int64_t dim : header->shape) {
    const auto size = static_cast<uint64_t>(dim);
    if (size != 0 && elements > most / size) {
      return Error{"its shape has more elements than a file can hold"};
    }
    elements *= size;
  }
  header->elements = elements;
  return OkStatus();
}

}  // namespace

Result<std::optional<size_t>> NpyHeaderEnd(std::string_view bytes) {
  const size_t mark = std::min(bytes.size(), kNpyMark.size());
  if (bytes.substr(0, mark) != kNpyMark.substr(0, mark)) {
    return Error{"it does not begin as a .npy file does"};
  }
  if (bytes.size() < kBeforeLength) return std::optional<size_t>();
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return Error{fmt::format("it is of version {} of .npy, and 1 to 3 are read",
                             version)};
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < kBeforeLength + length_bytes) {
    return std::optional<size_t>();
  }
  const size_t length = LittleEndian(bytes.substr(kBeforeLength, length_bytes));
  if (length > kNpyHeaderBytes) {
    return Error{
        fmt::format("its header is {} bytes long, and {} at most are "
                    "read",
                    length, kNpyHeaderBytes)};
  }
  return std::optional<size_t>(kBeforeLength + length_bytes + length);
}

Result<NpyHeader> ReadNpyHeader(std::string_view bytes) {
  const size_t before = kBeforeLength + (bytes[6] == 1 ? 2 : 4);
  DictScan scan(bytes.substr(before));
  const Error unread{"its header is not what numpy writes"};
  NpyHeader header;
  std::optional<std::string_view> descr;
  std::optional<bool> by_columns;
  std::optional<std::vector<int64_t>> shape;
  if (!scan.Skip('{')) return unread;
  while (!scan.Skip('}')) {
    const std::optional<std::string_view> key = scan.Text();
    if (!key || !scan.Skip(':')) return unread;
    if (*key == "descr" && !descr) {
      descr = scan.Text();
      if (!descr) {
        return Error{"it holds records and not numbers; save one array a file"};
      }
    } else if (*key == "fortran_order" && !by_columns) {
      by_columns = scan.Bool();
      if (!by_columns) return unread;
    } else if (*key == "shape" && !shape) {
      shape = scan.Shape();
      if (!shape) {
        return Error{fmt::format("its shape is not a list of {} sizes at most",
                                 kNpyDims)};
      }
    } else {
      return unread;
    }
    if (scan.Skip(',')) continue;
    if (!scan.Skip('}')) return unread;
    break;
  }
  if (!scan.AtEnd() || !descr || !by_columns || !shape) return unread;
  if (const Status known = TakeFormat(*descr, &header); !known.ok()) {
    return Error{known.error()};
  }
  header.by_columns = *by_columns && shape->size() > 1;
  header.shape = std::move(*shape);
  if (const Status counted = CountElements(&header); !counted.ok()) {
    return Error{counted.error()};
  }
  return header;
}

}  // namespace nanwatch
