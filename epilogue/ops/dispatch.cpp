// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/dispatch.h"

#include <array>

#include "epilogue/ops/hooks.h"

namespace epi {
namespace {

// Flat, indexed by device and op. Written while backends register, read ever after.
std::array<std::array<Kernel, kOpCount>, kDeviceTypeCount> kernels{};

Kernel& kernel_slot(DeviceType device, Op op) {
  return kernels[static_cast<size_t>(device)][static_cast<size_t>(op)];
}

// The output's device; a copy to the CPU is the work of the device that it comes from.
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

// Tells the listener of the end also where a call throws.
class ListenedRange {
 public:
  ListenedRange(Listener& listener, Op op, Args args) : listener_(listener), op_(op) {
    listener_.op_begin(op, args);
  }
  ListenedRange(const ListenedRange&) = delete;
  ListenedRange& operator=(const ListenedRange&) = delete;
  ~ListenedRange() { listener_.op_end(op_); }

 private:
  Listener& listener_;
  Op op_;
};

// Out of line: what nobody listens to pays for none of it.
[[gnu::noinline]] Tensor run_listened(Listener& listener, Op op, Args args) {
  const ListenedRange range(listener, op, args);
  return run(op_info(op), args);
}

}  // namespace

void register_kernel(DeviceType device, Op op, Kernel kernel) { kernel_slot(device, op) = kernel; }

Kernel find_kernel(DeviceType device, Op op) { return kernel_slot(device, op); }

Tensor dispatch(Op op, std::initializer_list<Arg> list) {
  const Args args(std::span(list.begin(), list.size()));
  Listener* listener = current_listener();
  // What is captured does not run.
  if (listener == nullptr || detail::capture != nullptr) [[likely]]
    return run(op_info(op), args);
  return run_listened(*listener, op, args);
}

void dispatch_into(Op op, std::span<const Arg> list, const Tensor& out) {
  const Args args(list);
  Listener* listener = current_listener();
  if (listener == nullptr) return run_backend(op_info(op), args, out);
  const ListenedRange range(*listener, op, args);
  run_backend(op_info(op), args, out);
}

Tensor dispatch_without_hooks(Op op, std::initializer_list<Arg> list) {
  return run(op_info(op), Args(std::span(list.begin(), list.size())));
}

}  // namespace epi
