// SPDX-License-Identifier: Apache-2.0
// The single entry point: every operator call goes through `dispatch`, which notifies the listener,
// forwards the call to the capture, or runs the kernel registered for the tensor's device.
#pragma once

#include <initializer_list>
#include <span>

#include "epilogue/ops/args.h"
#include "epilogue/ops/op.h"

namespace epi {

// Fills `out`, which has at least one element and the right shape and dtype. It is row-major unless
// the op writes in place.
using Kernel = void (*)(Args args, const Tensor& out);

// Replaces the kernel of a built-in compute operator, in eager and in compiled code: the compiler
// then generates no code for this operator and does not fuse it. Null restores the backend's
// kernel. Functions that are already compiled are compiled again. Must not run while other threads
// call operators. Custom operators are in custom_op.h.
void register_kernel(DeviceType device, Op op, Kernel kernel);
bool is_kernel_replaced(DeviceType device, Op op);
// How often kernels have been replaced.
uint64_t count_replacements();
// For a backend's registration function, before first use.
void register_backend_kernel(DeviceType device, Op op, Kernel kernel);

// The view, the composite's value, or the output for the kernel to fill.
Tensor result_of(const OpInfo& info, Args args);

Tensor dispatch(Op op, std::initializer_list<Arg> args);
Tensor dispatch(Op op, std::span<const Arg> args);
// Runs a compute op's kernel on checked arguments, into an existing tensor.
void dispatch_into(Op op, std::span<const Arg> args, const Tensor& out);
// `dispatch` without the listener, to measure the overhead of the hook (bench/profile_bench.cpp).
Tensor dispatch_without_hooks(Op op, std::initializer_list<Arg> args);

}  // namespace epi
