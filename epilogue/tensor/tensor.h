// SPDX-License-Identifier: Apache-2.0
// `Tensor`: a strided view of shared storage. Copying a tensor is cheap and shares the bytes.
// Shape, strides and offset count elements. Operators are free functions, see ops/functional.h.
#pragma once

#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/tensor/device.h"
#include "epilogue/tensor/dtype.h"
#include "epilogue/tensor/layout.h"
#include "epilogue/tensor/storage.h"

namespace epi {

class Tensor {
 public:
  // An undefined tensor, for optional arguments: `defined()` is false. It has no dimensions and no
  // device, and what needs its storage throws.
  Tensor() = default;
  Tensor(std::shared_ptr<Storage> storage, Layout layout, int64_t offset, DType dtype)
      : storage_(std::move(storage)), layout_(layout), offset_(offset), dtype_(dtype) {}

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  Device device() const {
    if (storage_ == nullptr) refuse_undefined();
    return storage_->device();
  }

  const Layout& layout() const { return layout_; }
  const Dims& shape() const { return layout_.shape; }
  const Dims& strides() const { return layout_.strides; }
  int dim() const { return layout_.rank(); }
  // Negative dimensions count from the end.
  int64_t size(int64_t d) const { return shape()[dimension("size", d)]; }
  int64_t stride(int64_t d) const { return strides()[dimension("stride", d)]; }
  int64_t offset() const { return offset_; }
  int64_t numel() const { return defined() ? epi::numel(shape()) : 0; }
  // Size of all elements, including broadcast ones.
  int64_t size_bytes() const;
  bool is_contiguous() const { return epi::is_contiguous(layout_); }

  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // A view of the same storage with another layout. Throws for `op` if the view exceeds the
  // storage.
  Tensor with_layout(std::string_view op, const Layout& layout, int64_t offset) const;

  // The address of element [0, 0, ...]. Null for meta tensors.
  std::byte* raw_data() const;
  // Typed `raw_data`. Throws if `T` does not match the dtype.
  template <typename T>
  T* data() const {
    if (DTypeOf<T>::value != dtype_) {
      fail("data", "the tensor holds {}, not {}", name(dtype_), name(DTypeOf<T>::value));
    }
    if (device().type == DeviceType::kMeta) {
      fail("data", "a meta tensor has no values; a function that reads values cannot be captured");
    }
    return reinterpret_cast<T*>(raw_data());
  }

 private:
  [[noreturn]] static void refuse_undefined();
  int dimension(const char* op, int64_t d) const {
    if (dim() == 0) fail(op, "a tensor without dimensions has no dimension {}", d);
    return normalize_dim(op, d, dim());
  }

  std::shared_ptr<Storage> storage_;
  Layout layout_;
  int64_t offset_ = 0;
  DType dtype_ = DType::kF32;
};

// Whether the ranges of memory from the first to the last element overlap.
bool overlap(const Tensor& a, const Tensor& b);

// Bytes of the elements that are actually stored: a broadcast dimension counts once.
int64_t stored_bytes(const Tensor& tensor);

}  // namespace epi
