// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/checks.h"

#include "epilogue/ops/hooks.h"

namespace epi {

void check_defined(std::string_view op, const Tensor& x) {
  if (!x.defined()) fail(op, "expected a tensor, got an undefined one");
}

void check_floating(std::string_view op, const Tensor& x) {
  check_defined(op, x);
  if (!is_floating(x.dtype())) fail(op, "expected a floating-point dtype, got {}", name(x.dtype()));
}

void check_numeric(std::string_view op, const Tensor& x) {
  check_defined(op, x);
  if (x.dtype() == DType::kBool || x.dtype() == DType::kI8) {
    fail(op, "expected a dtype with arithmetic, got {}; convert it with to()", name(x.dtype()));
  }
}

void check_same_kind(std::string_view op, const Tensor& a, const Tensor& b) {
  check_defined(op, a);
  check_defined(op, b);
  if (a.dtype() != b.dtype()) {
    fail(op, "dtypes differ: {} and {}; convert one with to()", name(a.dtype()), name(b.dtype()));
  }
  check_same_device(op, a, b);
}

void check_same_device(std::string_view op, const Tensor& a, const Tensor& b) {
  // A capture mixes meta tensors with parameters on a real device.
  if (a.device() != b.device() && detail::capture == nullptr) {
    fail(op, "devices differ: {} and {}", name(a.device()), name(b.device()));
  }
}

void check_rank(std::string_view op, const Tensor& x, int rank) {
  check_defined(op, x);
  if (x.dim() != rank) {
    fail(op, "expected {} dimensions, got {}: the shape is {}", rank, x.dim(),
         to_string(x.shape()));
  }
}

Dims inferred_size(std::string_view op, const Tensor& x, const Dims& size) {
  Dims shape = size;
  int unknown = -1;
  int64_t known = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && unknown < 0) {
      unknown = i;
    } else if (shape[i] < 0) {
      fail(op, "shape {} has a negative size or more than one -1", to_string(size));
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      fail(op, "shape {} has more elements than fit in 64 bits", to_string(size));
    }
  }
  const int64_t count = x.numel();
  if (unknown >= 0) {
    if (known == 0 || count % known != 0) {
      fail(op, "shape {} does not divide the {} elements of {}", to_string(size), count,
           to_string(x.shape()));
    }
    shape[unknown] = count / known;
  } else if (known != count) {
    fail(op, "shape {} has {} elements, the input {} has {}", to_string(size), known,
         to_string(x.shape()), count);
  }
  return shape;
}

}  // namespace epi
