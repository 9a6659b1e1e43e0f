#include "wire/op_name_codec.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "model/limits.h"

namespace nanwatch {
namespace {

Verdict ReadShape(const google::protobuf::RepeatedField<int64_t>& from,
                  size_t op, std::vector<int64_t>* to) {
  if (static_cast<size_t>(from.size()) > limits::kShapeDims) {
    return Complaint{fmt::format("op {} has a shape of {} dimensions, at most "
                                 "{} are taken; join some",
                                 op, from.size(), limits::kShapeDims),
                     "shape_dims"};
  }
  for (const int64_t dim : from) {
    if (dim < 0) {
      return Complaint{fmt::format("op {} has a dimension of {}; send what the "
                                   "tensor really had, or no shape",
                                   op, dim),
                       ""};
    }
  }
  to->assign(from.begin(), from.end());
  const bool empty = std::find(to->begin(), to->end(), 0) != to->end();
  if (!to->empty() && !empty && Elements(*to) == 0) {
    return Complaint{fmt::format("op {} has a shape of more than 2^64 - 1 "
                                 "elements; send what the tensor really had, "
                                 "or no shape",
                                 op),
                     ""};
  }
  return std::nullopt;
}

}  // namespace

Verdict ReadOpNames(const v1::OpNames& from, OpNames* to) {
  const size_t end = size_t{from.first_index()} + from.ops_size();
  if (end > limits::kOpsPerSession) {
    return Complaint{fmt::format("op names up to index {}, at most {} a "
                                 "session are taken; watch fewer ops",
                                 end, limits::kOpsPerSession),
                     "ops_per_session"};
  }
  to->first_index = from.first_index();
  to->ops.reserve(from.ops_size());
  for (const v1::OpName& one : from.ops()) {
    const size_t index = to->first_index + to->ops.size();
    const size_t longest = std::max(
        {one.name().size(), one.type().size(), one.data_format().size()});
    if (longest > limits::kNameBytes) {
      return Complaint{fmt::format("a string of op {} has {} bytes, at most {} "
                                   "are taken; shorten it",
                                   index, longest, limits::kNameBytes),
                       "string_bytes"};
    }
    if (one.name().empty()) {
      return Complaint{fmt::format("op {} has no name; give it that of its "
                                   "module or operator",
                                   index),
                       ""};
    }
    OpName& op = to->ops.emplace_back();
    op.name = one.name();
    op.type = one.type();
    op.data_format = one.data_format();
    // A type of number that only newer versions know is an unknown one.
    op.dtype = one.dtype() >= 0 && one.dtype() <= v1::DTYPE_FP8_E5M2
                   ? static_cast<Dtype>(one.dtype())
                   : Dtype::kUnknown;
    op.part = one.part();
    op.order = one.has_order() ? std::max(one.order(), -1) : -1;
    if (Verdict w = ReadShape(one.logical_shape(), index, &op.logical_shape)) {
      return w;
    }
    if (Verdict w = ReadShape(one.storage_shape(), index, &op.storage_shape)) {
      return w;
    }
  }
  return std::nullopt;
}

void WriteOpNames(const OpNames& from, v1::OpNames* to) {
  to->set_first_index(from.first_index);
  for (const OpName& op : from.ops) {
    v1::OpName* one = to->add_ops();
    one->set_name(op.name);
    one->set_type(op.type);
    one->set_data_format(op.data_format);
    one->set_dtype(static_cast<v1::Dtype>(op.dtype));
    one->mutable_logical_shape()->Assign(op.logical_shape.begin(),
                                         op.logical_shape.end());
    one->mutable_storage_shape()->Assign(op.storage_shape.begin(),
                                         op.storage_shape.end());
    if (op.order >= 0) one->set_order(op.order);
    one->set_part(op.part);
  }
}

}  // namespace nanwatch
