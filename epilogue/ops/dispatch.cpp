// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/dispatch.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "epilogue/ops/custom_op.h"
#include "epilogue/ops/hooks.h"

namespace epi {
namespace {

// Indexed by device and op. Written while kernels are registered, read-only afterwards.
using KernelTable = std::array<std::array<Kernel, kOpCount>, kDeviceTypeCount>;
KernelTable kernels{};          // those that run
KernelTable backend_kernels{};  // before they were replaced
std::atomic<uint64_t> replacements = 0;

Kernel& slot(KernelTable& table, DeviceType device, Op op) {
  return table[static_cast<size_t>(device)][static_cast<size_t>(op)];
}

// The output's device, except that the source device runs a copy to the CPU.
Device device_of_call(const OpInfo& info, Args args, const Tensor& out) {
  const bool to_cpu = info.op == Op::kCopy_ && out.device() == kCpu;
  return to_cpu ? args.tensor(1).device() : out.device();
}

void run_kernel_of(const CustomOp& op, Device device, Args args, const Tensor& out) {
  const auto kernel = op.kernels.find(device.type);
  if (kernel == op.kernels.end()) fail(op.name, "no kernel for device {}", name(device));
  kernel->second(args, out);
}

void run_backend(const OpInfo& info, Args args, const Tensor& out) {
  if (out.device().type == DeviceType::kMeta || out.numel() == 0) return;
  const Device device = device_of_call(info, args, out);
  if (info.result == nullptr) [[unlikely]] {
    run_kernel_of(*detail::find_custom_op(info.op), device, args, out);
    return;
  }
  const Kernel kernel = slot(kernels, device.type, info.op);
  if (kernel == nullptr) {
    fail(short_name(info), "no kernel for device {}: is its backend registered?", name(device));
  }
  kernel(args, out);
}

// The device of the first tensor among the arguments.
Device device_of(Args args) {
  for (const Arg& arg : args) {
    if (arg.is_tensor()) return arg.tensor().device();
    if (arg.kind() == Arg::Kind::kTensors && !arg.tensors().empty()) {
      return arg.tensors()[0].device();
    }
  }
  return kCpu;
}

// A new, row-major tensor for the kernel.
Tensor result_for_kernel(const CustomOp& op, Args args) {
  Tensor out = op.result(args);
  const bool is_argument = std::any_of(args.begin(), args.end(), [&](const Arg& arg) {
    return arg.is_tensor() && arg.tensor().storage() == out.storage();
  });
  if (!out.defined() || !out.is_contiguous() || is_argument) {
    fail(op.name, "its result function must return a new, row-major tensor");
  }
  return out;
}

// Out of line to keep the path of built-in operators short.
[[gnu::noinline]] Tensor run_custom(const CustomOp& op, const OpInfo& info, Args args) {
  if (detail::capture != nullptr) {
    return op.definition ? op.definition(args) : detail::capture->call(info.op, args);
  }
  if (op.definition && !op.kernels.contains(device_of(args).type)) return op.definition(args);
  Tensor out = result_for_kernel(op, args);
  run_backend(info, args, out);
  return out;
}

// Names the operator of a call with wrong arguments.
template <typename Body>
auto with_name(const OpInfo& info, Body&& body) {
  try {
    return body();
  } catch (const detail::ArgumentMismatch& mismatch) {
    fail(info.result == nullptr ? info.name : short_name(info), "{}", mismatch.what());
  }
}

Tensor run_unnamed(const OpInfo& info, Args args) {
  if (info.result == nullptr) [[unlikely]]
    return run_custom(*detail::find_custom_op(info.op), info, args);
  if (detail::capture != nullptr && info.kind != OpKind::kComposite) {
    return detail::capture->call(info.op, args);
  }
  Tensor out = info.result(args);
  if (info.kind == OpKind::kCompute) run_backend(info, args, out);
  return out;
}

Tensor run(const OpInfo& info, Args args) {
  return with_name(info, [&] { return run_unnamed(info, args); });
}

void run_backend_named(const OpInfo& info, Args args, const Tensor& out) {
  with_name(info, [&] { run_backend(info, args, out); });
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

Tensor result_of(const OpInfo& info, Args args) {
  const CustomOp* custom = detail::find_custom_op(info.op);
  return custom != nullptr ? result_for_kernel(*custom, args) : info.result(args);
}

void register_backend_kernel(DeviceType device, Op op, Kernel kernel) {
  if (!is_kernel_replaced(device, op)) slot(kernels, device, op) = kernel;
  slot(backend_kernels, device, op) = kernel;
}

void register_kernel(DeviceType device, Op op, Kernel kernel) {
  const OpInfo& info = op_info(op);
  if (info.kind != OpKind::kCompute || info.result == nullptr) {
    fail("register_kernel", "{} is not a built-in compute operator: it has no kernel to replace",
         info.name);
  }
  slot(kernels, device, op) = kernel != nullptr ? kernel : slot(backend_kernels, device, op);
  ++replacements;
}

bool is_kernel_replaced(DeviceType device, Op op) {
  return static_cast<int>(op) < kOpCount &&
         slot(kernels, device, op) != slot(backend_kernels, device, op);
}

uint64_t count_replacements() { return replacements.load(std::memory_order_acquire); }

Tensor dispatch(Op op, std::initializer_list<Arg> list) {
  return dispatch(op, std::span(list.begin(), list.size()));
}

Tensor dispatch(Op op, std::span<const Arg> list) {
  const Args args(list);
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
    run_backend_named(op_info(op), args, out);
  } else {
    const OpScope scope(*listener, op, args);
    run_backend_named(op_info(op), args, out);
  }
  out.storage()->mark_written();
}

Tensor dispatch_without_hooks(Op op, std::initializer_list<Arg> list) {
  return run(op_info(op), Args(std::span(list.begin(), list.size())));
}

}  // namespace epi
