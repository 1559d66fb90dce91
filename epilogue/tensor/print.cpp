// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/print.h"

#include <fmt/format.h>

namespace epi {
namespace {

constexpr int64_t kEdge = 3;  // elements shown at each end of a long dimension

std::string element_text(const Tensor& tensor, int64_t index) {
  return visit_dtype(tensor.dtype(), [&]<typename T>(T) -> std::string {
    const T value = tensor.data<T>()[index];
    if constexpr (sizeof(T) == 2) {
      return fmt::format("{:.4g}", static_cast<float>(value));
    } else if constexpr (is_floating(DTypeOf<T>::value)) {
      return fmt::format("{:.4g}", value);
    } else {
      return fmt::format("{}", value);
    }
  });
}

void append_elements(std::string& out, const Tensor& tensor, int dim, int64_t index) {
  if (dim == tensor.dim()) {
    out += element_text(tensor, index);
    return;
  }
  const int64_t size = tensor.shape()[dim];
  const bool innermost = dim + 1 == tensor.dim();
  const std::string separator =
      innermost ? ", " : ",\n" + std::string(static_cast<size_t>(dim) + 1, ' ');
  out += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out += separator;
    if (size > 2 * kEdge && i == kEdge) {
      out += "...";
      i = size - kEdge - 1;
      continue;
    }
    append_elements(out, tensor, dim + 1, index + i * tensor.strides()[dim]);
  }
  out += ']';
}

}  // namespace

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return fmt::format("{} {} strides {} {}", name(tensor.dtype()), to_string(tensor.shape()),
                     to_string(tensor.strides()), name(tensor.device()));
}

std::string to_string(const Tensor& tensor) {
  std::string out = describe(tensor);
  if (!tensor.defined() || tensor.device() != kCpu) return out;
  out += '\n';
  append_elements(out, tensor, 0, 0);
  return out;
}

}  // namespace epi
