#include "diagnose/op_facts.h"

namespace nanwatch {

bool IsForward(const OpEvidence& op) {
  return op.slot == Slot::kInput || op.slot == Slot::kOutput ||
         op.slot == Slot::kParameter;
}

bool IsGradient(const OpEvidence& op) { return IsOfGradient(op.slot); }

bool IsInput(const OpEvidence& op) {
  return op.slot == Slot::kInput || op.slot == Slot::kGradOutput;
}

bool IsData(const OpEvidence& op) {
  return IsInput(op) && op.first_bad_order == 0;
}

Maker MakerOf(const OpEvidence& op) {
  if (IsData(op)) return Maker::kData;
  if (op.slot == Slot::kParameter) return Maker::kWeight;
  return op.op.dtype == Dtype::kFp32 ? Maker::kFp32Op : Maker::kOtherOp;
}

bool IsBadNow(const OpEvidence& op, const RunEvidence& evidence) {
  return op.clean_statuses == 0 ||
         evidence.last_step - op.last_bad_step <= kRecentSteps;
}

bool BadAtEveryUpdate(const OpEvidence& op) {
  // A step whose statuses were lost is no clean step: one in 50 is forgiven.
  return op.updates >= 6 && op.bad_updates * 50 >= op.updates * 49;
}

bool OverflowsUnscaled(const OpEvidence& op, const RunEvidence& evidence) {
  constexpr uint64_t kFew = 3;  // updates; ours
  if (!IsForward(op) || op.nan > 0 || op.bad_updates * 2 < op.updates) {
    return false;
  }
  if (!evidence.scaler_dynamic) return op.bad_updates > 0;
  return op.bad_updates >= kFew && op.bad_elements_max > 1;
}

bool BadAtEveryScale(const OpEvidence& op, double apart) {
  return BadAtEveryUpdate(op) && op.scale_min && op.scale_max &&
         *op.scale_max >= apart * *op.scale_min;
}

bool IsOf(const OpEvidence& op, const Subject& subject) {
  return op.op.name == subject.op && op.slot == subject.slot;
}

Subject OriginOf(const OpEvidence& op) {
  return {.rank = op.rank, .op = op.op.name, .slot = op.slot};
}

bool MadeIt(const OpEvidence& op, int64_t step) {
  return op.first_inputs_clean && op.first_bad_step == step;
}

const OpEvidence* FirstGradient(const RunEvidence& e, int64_t step) {
  const OpEvidence* parameter = nullptr;  // in the order of the backward pass
  const OpEvidence* made = nullptr;
  const OpEvidence* any = nullptr;
  for (const OpEvidence& op : e.ops) {
    if (!IsGradient(op) || op.first_bad_step > step || op.last_bad_step < step)
      continue;
    if (any == nullptr) any = &op;
    if (made == nullptr && MadeIt(op, step)) made = &op;
    if (op.op.type != "Parameter") continue;
    if (parameter == nullptr) parameter = &op;
    // That of a later layer was bad before.
    if (made != nullptr && &op != parameter &&
        op.op.name.starts_with(made->op.name + ".") &&
        !parameter->op.name.starts_with(made->op.name + ".")) {
      made = nullptr;
    }
  }
  if (made != nullptr) return made;
  const OpEvidence* first = parameter != nullptr ? parameter : any;
  // Of one that was bad before and after nobody knows how it was then.
  const bool then = first != nullptr && (first->first_bad_step == step ||
                                         first->last_bad_step == step);
  return then ? first : nullptr;
}

}  // namespace nanwatch
