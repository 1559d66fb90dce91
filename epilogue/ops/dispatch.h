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

// Registers a backend's kernel. Backends call this from their registration function, before first
// use.
void register_kernel(DeviceType device, Op op, Kernel kernel);
// Null if the device has no kernel for the op.
Kernel find_kernel(DeviceType device, Op op);

Tensor dispatch(Op op, std::initializer_list<Arg> args);
// Runs a compute op's kernel on checked arguments, into an existing tensor.
void dispatch_into(Op op, std::span<const Arg> args, const Tensor& out);
// `dispatch` without the listener, to measure the overhead of the hook (bench/profile_bench.cpp).
Tensor dispatch_without_hooks(Op op, std::initializer_list<Arg> args);

}  // namespace epi
