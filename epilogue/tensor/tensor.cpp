// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/tensor.h"

namespace epi {

void Tensor::refuse_undefined() { fail("tensor", "the tensor is undefined"); }

Tensor Tensor::with_layout(std::string_view op, const Layout& layout, int64_t offset) const {
  if (!defined()) refuse_undefined();
  // Without elements no memory is accessed, so the offset is reset to a valid one.
  if (epi::numel(layout.shape) == 0) return {storage_, layout, 0, dtype_};
  const Extent touched = extent(layout);
  const int64_t capacity = storage_->size_bytes() / epi::size_bytes(dtype_);
  if (offset + touched.begin < 0 || offset > capacity - touched.end) {
    fail(op, "shape {} with strides {} at offset {} exceeds the storage of {} elements",
         to_string(layout.shape), to_string(layout.strides), offset, capacity);
  }
  return {storage_, layout, offset, dtype_};
}

int64_t Tensor::size_bytes() const {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(numel(), epi::size_bytes(dtype_), &bytes)) {
    fail("tensor", "a {} tensor of shape {} has a size in bytes that does not fit in 64 bits",
         name(dtype_), to_string(shape()));
  }
  return bytes;
}

std::byte* Tensor::raw_data() const {
  if (!defined()) refuse_undefined();
  std::byte* base = storage_->data();
  return base == nullptr ? nullptr : base + offset_ * epi::size_bytes(dtype_);
}

bool overlap(const Tensor& a, const Tensor& b) {
  if (!a.defined() || a.storage() != b.storage()) return false;
  const Extent first = extent(a.layout());
  const Extent second = extent(b.layout());
  const int64_t a_size = size_bytes(a.dtype());
  const int64_t b_size = size_bytes(b.dtype());
  return (a.offset() + first.begin) * a_size < (b.offset() + second.end) * b_size &&
         (b.offset() + second.begin) * b_size < (a.offset() + first.end) * a_size;
}

int64_t stored_bytes(const Tensor& tensor) {
  if (!tensor.defined()) return 0;
  int64_t count = 1;
  for (int i = 0; i < tensor.dim(); ++i) {
    if (tensor.strides()[i] != 0 || tensor.shape()[i] == 0) count *= tensor.shape()[i];
  }
  return count * size_bytes(tensor.dtype());
}

}  // namespace epi
