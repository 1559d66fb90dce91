// SPDX-License-Identifier: Apache-2.0
// The one door: every operator call goes through `dispatch`, which tells the listener, hands the
// call to the capture, or runs the kernel that the tensor's device has registered.
#pragma once

#include <initializer_list>
#include <span>

#include "epilogue/ops/args.h"
#include "epilogue/ops/op.h"

namespace epi {

// Fills `out`, which has the right shape and dtype, is row-major unless the op writes in place, and
// has at least one element.
using Kernel = void (*)(Args args, const Tensor& out);

// Registers a backend's kernel; called by the backend's own registration function, before use.
void register_kernel(DeviceType device, Op op, Kernel kernel);
// Null where the device has none.
Kernel find_kernel(DeviceType device, Op op);

Tensor dispatch(Op op, std::initializer_list<Arg> args);
// Runs a compute op's kernel on arguments that were checked before, into a tensor that is there.
void dispatch_into(Op op, std::span<const Arg> args, const Tensor& out);
// `dispatch` without its listener: what the hook costs is the difference (bench/profile_bench.cpp).
Tensor dispatch_without_hooks(Op op, std::initializer_list<Arg> args);

}  // namespace epi
