#include "wire/message_fields.h"

#include <utility>

namespace nanwatch {

using google::protobuf::FieldDescriptor;

const FieldDescriptor* FieldFinder::Find(std::string_view name, bool is_time) {
  constexpr std::string_view kMicros = "_us";
  for (int i = 0; i < type_.field_count(); ++i) {
    const int at = (next_ + i) % type_.field_count();
    const std::string_view whole = type_.field(at)->name();
    const size_t size = name.size() + (is_time ? kMicros.size() : 0);
    if (whole.size() == size && whole.starts_with(name) &&
        (!is_time || whole.ends_with(kMicros))) {
      next_ = at + 1;
      return type_.field(at);
    }
  }
  return nullptr;
}

google::protobuf::Message* MessageWriter::Inner(const FieldDescriptor* field) {
  const google::protobuf::Reflection& to = *to_->GetReflection();
  return field->is_repeated() ? to.AddMessage(to_, field)
                              : to.MutableMessage(to_, field);
}

void MessageWriter::Number(const FieldDescriptor* field, int64_t value) {
  const google::protobuf::Reflection& to = *to_->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return to.SetInt32(to_, field, static_cast<int32_t>(value));
    case FieldDescriptor::CPPTYPE_UINT32:
      return to.SetUInt32(to_, field, static_cast<uint32_t>(value));
    case FieldDescriptor::CPPTYPE_UINT64:
      return to.SetUInt64(to_, field, static_cast<uint64_t>(value));
    case FieldDescriptor::CPPTYPE_BOOL:
      return to.SetBool(to_, field, value != 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return to.SetEnumValue(to_, field, static_cast<int>(value));
    default:
      return to.SetInt64(to_, field, value);
  }
}

void MessageWriter::Real(const FieldDescriptor* field, double value) {
  const google::protobuf::Reflection& to = *to_->GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_FLOAT) {
    to.SetFloat(to_, field, static_cast<float>(value));
  } else {
    to.SetDouble(to_, field, value);
  }
}

void MessageWriter::Text(const FieldDescriptor* field, std::string value) {
  const google::protobuf::Reflection& to = *to_->GetReflection();
  if (field->is_repeated()) {
    to.AddString(to_, field, std::move(value));
  } else {
    to.SetString(to_, field, std::move(value));
  }
}

bool MessageReader::IsSet(const FieldDescriptor* field) const {
  return !field->has_presence() ||
         from_.GetReflection()->HasField(from_, field);
}

int64_t MessageReader::Number(const FieldDescriptor* field) const {
  const google::protobuf::Reflection& from = *from_.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return from.GetInt32(from_, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return from.GetUInt32(from_, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<int64_t>(from.GetUInt64(from_, field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return from.GetBool(from_, field) ? 1 : 0;
    default:
      return from.GetInt64(from_, field);
  }
}

double MessageReader::Real(const FieldDescriptor* field) const {
  return from_.GetReflection()->GetDouble(from_, field);
}

std::string MessageReader::Text(const FieldDescriptor* field) const {
  return from_.GetReflection()->GetString(from_, field);
}

}  // namespace nanwatch
