// SPDX-License-Identifier: Apache-2.0
// Custom operators. The dispatcher, the profiler and the compiler treat them like built-in ones.
//
//   const Op kScaleRows = register_op({
//       .name = "mine::scale_rows",
//       .result = [](Args args) {
//         const Tensor& x = args.tensor(0);
//         return empty(x.shape(), {x.dtype(), x.device()});
//       },
//       .kernels = {{DeviceType::kCpu, scale_rows_on_cpu}},
//   });
//   Tensor scale_rows(const Tensor& x, const Tensor& scale) {
//     return dispatch(kScaleRows, {x, scale});
//   }
//
// Compiled code calls the kernel, as it calls that of a built-in operator which it does not
// generate. With a `definition`, the compiler captures the operators inside it instead and can fuse
// them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "epilogue/ops/args.h"
#include "epilogue/ops/op.h"
#include "epilogue/tensor/device.h"

namespace epi {

struct CustomOp {
  std::string name;  // "namespace::name", as in traces: letters, digits and underscores
  // Checks the arguments and returns the result for a kernel to fill: a new, row-major tensor. It
  // is also called with tensors that have no values, on the device kMeta. It may be absent if there
  // are no kernels.
  std::function<Tensor(Args)> result{};
  // Each fills `out`, which has at least one element. They may run in any thread.
  std::map<DeviceType, std::function<void(Args, const Tensor& out)>> kernels{};
  // The operator in terms of others. On a device without a kernel, it runs instead.
  std::function<Tensor(Args)> definition{};
};

// Throws if the name is taken or not of this form, or if nothing says how to run the operator.
// Operators stay registered until the process ends. Thread-safe.
Op register_op(CustomOp op);

namespace detail {

// The same without the rules for names: packages may be loaded in several versions.
Op add_op(CustomOp op);
// Null for built-in operators.
const CustomOp* find_custom_op(Op op);
// The number of operators, including the built-in ones.
size_t count_ops();

}  // namespace detail
}  // namespace epi
