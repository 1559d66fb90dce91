// SPDX-License-Identifier: Apache-2.0
// Element access, conversions, and views as index maps.
#include "tests/ops/reference.h"

#include <algorithm>

#include "tests/ops/test_device.h"

namespace epi::ref {
namespace {

template <typename T>
double as_double(T value) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

int64_t dot(const Dims& index, const Dims& strides) {
  int64_t sum = 0;
  for (int i = 0; i < index.rank(); ++i) sum += index[i] * strides[i];
  return sum;
}

}  // namespace

RefTensor read(const Tensor& tensor) {
  const Tensor x = on_host(tensor);
  RefTensor out{x.shape(), std::vector<double>(static_cast<size_t>(x.numel()))};
  visit_dtype(x.dtype(), [&]<typename T>(T) {
    const T* data = x.data<T>();
    for_each_index(x.shape(), [&](const Dims& index, size_t i) {
      out.values[i] = as_double(data[dot(index, x.strides())]);
    });
  });
  return out;
}

std::vector<RefTensor> read(std::span<const Tensor> tensors) {
  std::vector<RefTensor> out(tensors.size());
  std::transform(tensors.begin(), tensors.end(), out.begin(),
                 [](const Tensor& x) { return read(x); });
  return out;
}

double rounded(double value, DType dtype) {
  return visit_dtype(dtype, [&]<typename T>(T) {
    if constexpr (sizeof(T) == 2) {
      return as_double(T(static_cast<float>(value)));
    } else {
      return as_double(static_cast<T>(value));
    }
  });
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims shape = a.rank() > b.rank() ? a : b;
  const Dims& other = a.rank() > b.rank() ? b : a;
  const int added = shape.rank() - other.rank();
  for (int i = 0; i < other.rank(); ++i) {
    if (shape[added + i] == 1) shape[added + i] = other[i];
  }
  return shape;
}

RefTensor expand(const RefTensor& x, const Dims& shape) {
  if (shape == x.shape) return {shape, x.values};
  const int added = shape.rank() - x.shape.rank();
  return gather(x, shape, [&](const Dims& index) {
    Dims from = Dims::filled(x.shape.rank(), 0);
    for (int i = 0; i < from.rank(); ++i) from[i] = x.shape[i] == 1 ? 0 : index[i + added];
    return from;
  });
}

RefTensor permute(const RefTensor& x, const Dims& order) {
  Dims shape;
  for (const int64_t d : order) shape.push_back(x.shape[static_cast<int>(d)]);
  return gather(x, shape, [&](const Dims& index) {
    Dims from = Dims::filled(index.rank(), 0);
    for (int i = 0; i < from.rank(); ++i) from[static_cast<int>(order[i])] = index[i];
    return from;
  });
}

RefTensor transpose(const RefTensor& x, int dim0, int dim1) {
  Dims order;
  for (int i = 0; i < x.shape.rank(); ++i) order.push_back(i);
  std::swap(order[dim0], order[dim1]);
  return permute(x, order);
}

RefTensor reshape(const RefTensor& x, const Dims& shape) {
  RefTensor out = x;
  out.shape = shape;
  return out;
}

RefTensor select(const RefTensor& x, int dim, int64_t index) {
  Dims shape = x.shape;
  shape.erase(dim);
  return reshape(slice(x, dim, index, index + 1), shape);
}

RefTensor slice(const RefTensor& x, int dim, int64_t start, int64_t end, int64_t step) {
  Dims shape = x.shape;
  shape[dim] = 0;
  for (int64_t i = start; i < end; i += step) ++shape[dim];
  return gather(x, shape, [&](Dims index) {
    index[dim] = start + index[dim] * step;
    return index;
  });
}

RefTensor cat(std::span<const RefTensor> tensors, int dim) {
  Dims shape = tensors[0].shape;
  shape[dim] = 0;
  for (const RefTensor& x : tensors) shape[dim] += x.shape[dim];
  RefTensor out{shape, std::vector<double>(static_cast<size_t>(numel(shape)))};
  int64_t start = 0;
  for (const RefTensor& x : tensors) {
    for_each_index(x.shape, [&](Dims index, size_t i) {
      index[dim] += start;
      out.values[position(index, shape)] = x.values[i];
    });
    start += x.shape[dim];
  }
  return out;
}

}  // namespace epi::ref
