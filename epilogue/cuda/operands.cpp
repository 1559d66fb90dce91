// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/operands.h"

#include <algorithm>
#include <array>

#include "epilogue/cuda/cuda_error.h"

namespace epi::cuda {
namespace {

template <int kMax>
BasicShape<kMax> basic_shape(std::initializer_list<const Tensor*> tensors) {
  const Tensor& out = **tensors.begin();
  BasicShape<kMax> result;
  Dims shape = out.shape();
  std::array<Dims, kMax> strides;
  for (const Tensor* tensor : tensors) {
    const auto i = static_cast<size_t>(result.operands++);
    strides[i] = broadcast_strides("walk", tensor->layout(), shape);
    result.data[i] = reinterpret_cast<char*>(tensor->raw_data());
    result.element_bytes[i] = static_cast<int>(size_bytes(tensor->dtype()));
  }
  merge_dims(shape, std::span(strides).first(tensors.size()));
  result.rank = shape.rank();
  std::copy(shape.begin(), shape.end(), result.shape);
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::copy(strides[i].begin(), strides[i].end(), result.strides[i]);
  }
  return result;
}

}  // namespace

StridedShape strided_shape(std::initializer_list<const Tensor*> tensors) {
  return basic_shape<kMaxOperands>(tensors);
}

ChoiceShape choice_shape(std::initializer_list<const Tensor*> tensors) {
  return basic_shape<4>(tensors);
}

void check_launch(std::string_view op) {
  const cudaError_t code = cudaGetLastError();
  if (code == cudaSuccess) [[likely]]
    return;
  fail(op, "cudaLaunchKernel: {} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

}  // namespace epi::cuda
