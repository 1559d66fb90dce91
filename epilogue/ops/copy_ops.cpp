// SPDX-License-Identifier: Apache-2.0
// Copies, and the views that copy if the strides require it. Only copy_ has a kernel.
#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

// Whether the tensors share bytes but visit them in different orders.
bool overlap_in_other_order(const Tensor& a, const Tensor& b) {
  return overlap(a, b) && (a.layout() != b.layout() || a.offset() != b.offset());
}

// Allows copies between a device and the CPU, and within one device.
void check_devices(const Tensor& self, const Tensor& src) {
  if (self.device() == src.device() || detail::capture != nullptr) return;
  const bool has_values = self.device() != kMeta && src.device() != kMeta;
  if (has_values && (self.device() == kCpu || src.device() == kCpu)) return;
  fail("copy_", "devices differ: {} and {}", name(self.device()), name(src.device()));
}

// A capture also records copies of tensors that hold values. The result is a meta tensor.
Device copy_device(const Tensor& x) { return detail::capture != nullptr ? kMeta : x.device(); }

}  // namespace

Tensor clone(const Tensor& x) {
  check_defined("clone", x);
  return dispatch(Op::kClone, {x});
}

Tensor contiguous(const Tensor& x) {
  check_defined("contiguous", x);
  return x.is_contiguous() ? x : dispatch(Op::kContiguous, {x});
}

Tensor copy_(const Tensor& self, const Tensor& src, bool non_blocking) {
  check_defined("copy_", self);
  check_defined("copy_", src);
  check_devices(self, src);
  for (int i = 0; i < self.dim(); ++i) {
    if (self.strides()[i] == 0 && self.shape()[i] > 1) {
      fail("copy_", "dimension {} of the destination is broadcast: its elements share one address",
           i);
    }
  }
  broadcast_strides("copy_", src.layout(), self.shape());  // throws if `src` does not broadcast
  // The copy order is unspecified, so an overlapping source is cloned first.
  const Tensor source = overlap_in_other_order(self, src) ? clone(src) : src;
  const Tensor result = dispatch(Op::kCopy_, {self, source, non_blocking});
  // Afterwards, so that who reads the new version reads the new values.
  if (detail::capture == nullptr) self.storage()->mark_written();
  return result;
}

Tensor flatten(const Tensor& x, int64_t start_dim, int64_t end_dim) {
  check_defined("flatten", x);
  const int start = normalize_dim("flatten", start_dim, x.dim());
  const int end = normalize_dim("flatten", end_dim, x.dim());
  if (start > end) fail("flatten", "start_dim {} is greater than end_dim {}", start, end);
  return dispatch(Op::kFlatten, {x, start, end});
}

Tensor reshape(const Tensor& x, const Dims& shape) {
  check_defined("reshape", x);
  return dispatch(Op::kReshape, {x, inferred_size("reshape", x, shape)});
}

Tensor to(const Tensor& x, DType dtype) {
  check_defined("to", x);
  return x.dtype() == dtype ? x : dispatch(Op::kTo, {x, static_cast<int64_t>(dtype)});
}

Tensor to(const Tensor& x, Device device) {
  check_defined("to", x);
  if (x.device() == device) return x;
  return dispatch(Op::kTo, {x, static_cast<int64_t>(x.dtype()), static_cast<int64_t>(device.type),
                            static_cast<int64_t>(device.index)});
}

namespace results {

Tensor clone(Args args) {
  const Tensor& x = args.tensor(0);
  return epi::copy_(empty(x.shape(), {x.dtype(), copy_device(x)}), x);
}

Tensor contiguous(Args args) { return epi::clone(args.tensor(0)); }

Tensor copy_(Args args) { return args.tensor(0); }

Tensor flatten(Args args) {
  const Tensor& x = args.tensor(0);
  if (x.dim() == 0) return epi::reshape(x, {1});
  const auto start = static_cast<int>(args[1].integer());
  const auto end = static_cast<int>(args[2].integer());
  Dims shape;
  int64_t merged = 1;
  for (int i = 0; i < x.dim(); ++i) {
    if (i < start || i > end) {
      shape.push_back(x.shape()[i]);
      continue;
    }
    merged *= x.shape()[i];
    if (i == end) shape.push_back(merged);
  }
  return start == end ? x : epi::reshape(x, shape);
}

Tensor reshape(Args args) {
  const Tensor& x = args.tensor(0);
  const Dims& shape = args[1].ints();
  if (view_strides(x.layout(), shape)) return epi::view(x, shape);
  return epi::_unsafe_view(epi::clone(x), shape);
}

Tensor to(Args args) {
  const Tensor& x = args.tensor(0);
  const auto dtype = static_cast<DType>(args[1].integer());
  if (args.size() == 2) return epi::copy_(empty(x.shape(), {dtype, copy_device(x)}), x);
  const Device device{static_cast<DeviceType>(args[2].integer()),
                      static_cast<int8_t>(args[3].integer())};
  return epi::copy_(empty(x.shape(), {dtype, device}), x);
}

}  // namespace results
}  // namespace epi
