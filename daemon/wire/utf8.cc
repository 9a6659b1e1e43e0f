#include "wire/utf8.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <vector>

namespace nanwatch {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Bytes of the sequence that `first` begins; 0: none begins so.
int SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// Overlong forms, surrogates and what lies beyond U+10FFFF.
bool SecondByteFits(unsigned char first, unsigned char second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  if (first == 0xf4) return second < 0x90;
  return true;
}

std::string FindIn(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  const int n = repeated ? reflection.FieldSize(message, &field) : 1;
  for (int i = 0; i < n; ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const Message& inner =
          repeated ? reflection.GetRepeatedMessage(message, &field, i)
                   : reflection.GetMessage(message, &field);
      const std::string path = FindTextThatIsNotUtf8(inner);
      if (!path.empty()) return field.name() + "." + path;
      continue;
    }
    std::string scratch;
    const std::string& text =
        repeated ? reflection.GetRepeatedStringReference(message, &field, i,
                                                         &scratch)
                 : reflection.GetStringReference(message, &field, &scratch);
    if (!IsUtf8(text)) return field.name();
  }
  return "";
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int n = SequenceLength(first);
    if (n == 0 || i + n > text.size()) return false;
    for (int k = 1; k < n; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) {
        return false;
      }
    }
    if (n > 1 &&
        !SecondByteFits(first, static_cast<unsigned char>(text[i + 1]))) {
      return false;
    }
    i += n;
  }
  return true;
}

std::string FindTextThatIsNotUtf8(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool nested = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!nested && field->type() != FieldDescriptor::TYPE_STRING) continue;
    const std::string path = FindIn(message, *field);
    if (!path.empty()) return path;
  }
  return "";
}

}  // namespace nanwatch
