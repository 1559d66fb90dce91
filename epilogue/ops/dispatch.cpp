// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/dispatch.h"

#include <array>

#include "epilogue/ops/hooks.h"

namespace epi {
namespace {

// Indexed by device and op. Written while backends register, read-only afterwards.
std::array<std::array<Kernel, kOpCount>, kDeviceTypeCount> kernels{};

Kernel& kernel_slot(DeviceType device, Op op) {
  return kernels[static_cast<size_t>(device)][static_cast<size_t>(op)];
}

// The output's device, except that the source device runs a copy to the CPU.
Device device_of_call(const OpInfo& info, Args args, const Tensor& out) {
  const bool to_cpu = info.op == Op::kCopy_ && out.device() == kCpu;
  return to_cpu ? args.tensor(1).device() : out.device();
}

void run_backend(const OpInfo& info, Args args, const Tensor& out) {
  if (out.device().type == DeviceType::kMeta || out.numel() == 0) return;
  const Device device = device_of_call(info, args, out);
  const Kernel kernel = kernel_slot(device.type, info.op);
  if (kernel == nullptr) {
    fail(info.name.substr(6), "no kernel for device {}: is its backend registered?", name(device));
  }
  kernel(args, out);
}

Tensor run(const OpInfo& info, Args args) {
  if (detail::capture != nullptr && info.kind != OpKind::kComposite) {
    return detail::capture->call(info.op, args);
  }
  Tensor out = info.result(args);
  if (info.kind == OpKind::kCompute) run_backend(info, args, out);
  return out;
}

// Reports the end of the op to the listener even if the call throws.
class OpScope {
 public:
  OpScope(Listener& listener, Op op, Args args) : listener_(listener), op_(op) {
    listener_.op_begin(op, args);
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;
  ~OpScope() { listener_.op_end(op_); }

 private:
  Listener& listener_;
  Op op_;
};

// Out of line to keep the common path without a listener short.
[[gnu::noinline]] Tensor run_with_listener(Listener& listener, Op op, Args args) {
  const OpScope scope(listener, op, args);
  return run(op_info(op), args);
}

}  // namespace

void register_kernel(DeviceType device, Op op, Kernel kernel) { kernel_slot(device, op) = kernel; }

Kernel find_kernel(DeviceType device, Op op) { return kernel_slot(device, op); }

Tensor dispatch(Op op, std::initializer_list<Arg> list) {
  const Args args(std::span(list.begin(), list.size()));
  Listener* listener = current_listener();
  // Captured calls do not run, so the listener does not see them.
  if (listener == nullptr || detail::capture != nullptr) [[likely]]
    return run(op_info(op), args);
  return run_with_listener(*listener, op, args);
}

void dispatch_into(Op op, std::span<const Arg> list, const Tensor& out) {
  const Args args(list);
  Listener* listener = current_listener();
  if (listener == nullptr) {
    run_backend(op_info(op), args, out);
  } else {
    const OpScope scope(*listener, op, args);
    run_backend(op_info(op), args, out);
  }
  out.storage()->mark_written();
}

Tensor dispatch_without_hooks(Op op, std::initializer_list<Arg> list) {
  return run(op_info(op), Args(std::span(list.begin(), list.size())));
}

}  // namespace epi
