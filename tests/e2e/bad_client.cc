// bad_client: a client that says whatever it is told. Each line of the input is
// one message for the ingest stream: an IngestRequest in protobuf's text format
// (`open { session: 7 }`, on one line), or `bytes` and hexadecimal digits,
// which go out as they are, or `pad`, a number of MiB, and a message, which
// goes out with so many zeros in an unknown field at its end. Each answer is
// printed as one line of JSON. At the end of the input the stream is closed,
// and how it ended is printed as
// {"status": CODE, "message": TEXT}.

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nanwatch/v1/ingest.grpc.pb.h"

namespace nanwatch {
namespace {

using grpc::ByteBuffer;
// Bytes both ways: what is no message must go out, too.
using Stream = grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>;

std::string FromHex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// A field that no version knows, before `bytes` bytes of it.
std::string PaddingHead(uint64_t bytes) {
  std::string head;
  google::protobuf::io::StringOutputStream stream(&head);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.WriteTag(10'000 << 3 | 2);
  out.WriteVarint64(bytes);
  out.Trim();
  return head;
}

// The bytes that a line of the input stands for; ends the program for a line
// that is nothing.
std::string BytesOf(const std::string& line) {
  if (line.starts_with("bytes ")) return FromHex(line.substr(6));
  v1::IngestRequest request;
  if (!google::protobuf::TextFormat::ParseFromString(line, &request)) {
    std::fprintf(stderr, "not a message: %.200s\n", line.c_str());
    std::_Exit(2);
  }
  return request.SerializeAsString();
}

ByteBuffer MessageOf(const std::string& line) {
  if (!line.starts_with("pad ")) {
    const grpc::Slice slice(BytesOf(line));
    return ByteBuffer(&slice, 1);
  }
  const size_t end = line.find(' ', 4);
  const size_t mebibytes = std::stoul(line.substr(4, end - 4));
  std::vector<grpc::Slice> slices = {grpc::Slice(BytesOf(line.substr(end + 1)) +
                                                 PaddingHead(mebibytes << 20))};
  const grpc::Slice zeros(std::string(1 << 20, 0));
  slices.resize(1 + mebibytes, zeros);  // the same megabyte again and again
  return ByteBuffer(slices.data(), slices.size());
}

void Print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void PrintAnswers(Stream* stream) {
  ByteBuffer bytes;
  while (stream->Read(&bytes)) {
    v1::IngestResponse response;
    std::string json;
    if (grpc::SerializationTraits<v1::IngestResponse>::Deserialize(&bytes,
                                                                   &response)
            .ok() &&
        google::protobuf::util::MessageToJsonString(response, &json).ok()) {
      Print(json);
    }
  }
}

int Talk(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxSendMessageSize(-1);
  const std::shared_ptr<grpc::Channel> channel = grpc::CreateCustomChannel(
      address, grpc::InsecureChannelCredentials(), arguments);
  const grpc::internal::RpcMethod method(
      "/nanwatch.v1.IngestService/Ingest",
      grpc::internal::RpcMethod::BIDI_STREAMING, channel);
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream(
      grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(
          channel.get(), method, &context));
  std::thread reader([&] { PrintAnswers(stream.get()); });
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!stream->Write(MessageOf(line))) break;  // the stream is over
  }
  stream->WritesDone();
  reader.join();
  const grpc::Status status = stream->Finish();
  v1::Refusal quoted;  // its JSON has the text quoted as JSON wants it
  quoted.set_message(status.error_message());
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(quoted, &json).ok()) {
    return 1;
  }
  Print("{\"status\":" + std::to_string(status.error_code()) + "," +
        (json == "{}" ? "\"message\":\"\"}" : json.substr(1)));
  return 0;
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bad_client ADDRESS < MESSAGES\n");
    return 2;
  }
  return nanwatch::Talk(argv[1]);
}
