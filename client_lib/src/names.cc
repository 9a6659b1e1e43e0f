#include "client_lib/src/names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "client_lib/src/enum_number.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

// The daemon's limits (daemon/model/limits.h).
constexpr size_t kOpsPerSession = 65536;
constexpr size_t kShapeDims = 16;
constexpr size_t kOptimizers = 7;

template <typename Dims>
bool CopyShape(const int64_t* shape, size_t dims, Dims* to) {
  if (shape != nullptr) to->Add(shape, shape + dims);
  uint64_t elements = 1;
  return std::all_of(to->begin(), to->end(), [&elements](int64_t dim) {
    return dim >= 0 && !__builtin_mul_overflow(
                           elements, static_cast<uint64_t>(dim), &elements);
  });
}

std::optional<v1::OpName> NameOf(const nanwatch_op& op) {
  v1::OpName name;
  name.set_name(CleanUtf8(op.name));
  if (name.name().empty() || op.logical_dims > kShapeDims ||
      op.storage_dims > kShapeDims) {
    return std::nullopt;
  }
  name.set_type(CleanUtf8(op.type));
  name.set_data_format(CleanUtf8(op.data_format));
  if (const int dtype = EnumNumber(op.dtype); v1::Dtype_IsValid(dtype)) {
    name.set_dtype(static_cast<v1::Dtype>(dtype));
  }
  if (!CopyShape(op.logical_shape, op.logical_dims,
                 name.mutable_logical_shape()) ||
      !CopyShape(op.storage_shape, op.storage_dims,
                 name.mutable_storage_shape())) {
    return std::nullopt;
  }
  if (op.order >= 0) name.set_order(op.order);
  name.set_part(op.part != 0);
  return name;
}

}  // namespace

int32_t Names::AddOp(const nanwatch_op& op, std::string* why) {
  const auto refuse = [&op, why](const char* reason) {
    if (why != nullptr) {
      *why = "the op \"" + CleanUtf8(op.name, 80) + "\" " + reason;
    }
    return -1;
  };
  std::optional<v1::OpName> name = NameOf(op);
  if (!name) return refuse("has no name, or an impossible shape");
  std::lock_guard lock(mutex_);
  if (op_names_.size() >= kOpsPerSession) {
    full_.store(true, std::memory_order_relaxed);
    return refuse("is one too many: 65536 ops of a session are watched");
  }
  op_names_.push_back(std::move(*name));
  ShowLocked();
  given_.fetch_add(1, std::memory_order_release);
  return static_cast<int32_t>(op_names_.size() - 1);
}

int32_t Names::AddOptimizer(const char* name) {
  std::string clean = CleanUtf8(name);
  if (clean.empty()) return 0;
  std::lock_guard lock(mutex_);
  auto at = std::find(optimizers_.begin(), optimizers_.end(), clean);
  if (at == optimizers_.end()) {
    if (optimizers_.size() >= kOptimizers) return 0;
    at = optimizers_.insert(at, std::move(clean));
    given_.fetch_add(1, std::memory_order_release);
  }
  return static_cast<int32_t>(at - optimizers_.begin()) + 1;
}

std::vector<std::string> Names::optimizers() const {
  std::lock_guard lock(mutex_);
  return optimizers_;
}

uint32_t Names::Copy(uint32_t first, uint32_t most, v1::OpNames* out) const {
  std::lock_guard lock(mutex_);
  const auto size = static_cast<uint32_t>(op_names_.size());
  const uint32_t end = size - first > most ? first + most : size;
  out->set_first_index(first);
  for (uint32_t i = first; i < end; ++i) *out->add_ops() = op_names_[i];
  return end - first;
}

void Names::RefuseFrom(uint32_t first) {
  std::lock_guard lock(mutex_);
  refused_from_ = std::min(refused_from_, first);
  refused_ = true;
  ShowLocked();
}

void Names::Allow() {
  std::lock_guard lock(mutex_);
  refused_from_ = UINT32_MAX;
  refused_ = false;
  ShowLocked();
}

void Names::ShowLocked() {
  ops_.store(std::min(static_cast<uint32_t>(op_names_.size()), refused_from_),
             std::memory_order_release);
}

}  // namespace nanwatch_client
