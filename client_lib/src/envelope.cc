#include "client_lib/src/envelope.h"

#include <google/protobuf/io/coded_stream.h>

namespace nanwatch_client {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr uint32_t kSessionTag = 1 << 3 | 1;   // fixed64
constexpr uint32_t kSequenceTag = 2 << 3 | 0;  // varint
constexpr size_t kHeadBytes = 64;

}  // namespace

std::string Envelope(nanwatch::v1::IngestRequest::KindCase kind,
                     uint64_t session, uint64_t sequence,
                     const std::string& body) {
  const size_t inner =
      1 + 8 + 1 + CodedOutputStream::VarintSize64(sequence) + body.size();
  uint8_t head[kHeadBytes];
  uint8_t* end = CodedOutputStream::WriteTagToArray(
      static_cast<uint32_t>(kind) << 3 | 2, head);
  end = CodedOutputStream::WriteVarint64ToArray(inner, end);
  end = CodedOutputStream::WriteTagToArray(kSessionTag, end);
  end = CodedOutputStream::WriteLittleEndian64ToArray(session, end);
  end = CodedOutputStream::WriteTagToArray(kSequenceTag, end);
  end = CodedOutputStream::WriteVarint64ToArray(sequence, end);
  std::string message;
  message.reserve(static_cast<size_t>(end - head) + body.size());
  message.append(reinterpret_cast<const char*>(head),
                 static_cast<size_t>(end - head));
  message.append(body);
  return message;
}

}  // namespace nanwatch_client
