// SPDX-License-Identifier: Apache-2.0
// gather and index_select: elements are read by index and copied by their size, in vectors if the
// index is the same along the last dimension. An index out of range traps, as PyTorch's assertion
// does: the next call that waits for the device fails.
#include "epilogue/cuda/element.cuh"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/walk.cuh"

namespace epi::cuda {

constexpr int kIndexThreads = 256;

// Name the operators in traces.
template <typename T>
struct Gather;
template <typename T>
struct IndexSelect;

template <typename Op, typename T, typename Index, int kVector>
__global__ void __launch_bounds__(kIndexThreads)
    read_by_index(const __grid_constant__ Walk walk, int64_t stride, int64_t size) {
  const uint32_t item = blockIdx.x * kIndexThreads + threadIdx.x;
  if (item >= walk.items) return;
  int64_t offsets[3];
  offsets_of(walk, item, offsets);
  const int64_t index = reinterpret_cast<const Index*>(walk.data[2])[offsets[2]];
  if (index < 0 || index >= size) __trap();
  const T* from = reinterpret_cast<const T*>(walk.data[1]) + offsets[1] + index * stride;
  T* to = reinterpret_cast<T*>(walk.data[0]) + offsets[0];
  *reinterpret_cast<Pack<T, kVector>*>(to) = *reinterpret_cast<const Pack<T, kVector>*>(from);
}

template <typename Op, typename T, typename Index, int kVector>
void launch_read(const IndexShape& shape, cudaStream_t stream) {
  const Walk walk = make_walk(shape.operands, kVector);
  const uint32_t blocks = (walk.items + kIndexThreads - 1) / kIndexThreads;
  read_by_index<Op, T, Index, kVector>
      <<<blocks, kIndexThreads, 0, stream>>>(walk, shape.stride, shape.size);
}

// Whether a vector has one index and adjacent elements in input and output.
inline bool index_allows_vectors(const IndexShape& shape, int vector) {
  const StridedShape& operands = shape.operands;
  const int last = operands.rank - 1;
  StridedShape copied = operands;
  copied.operands = 2;
  return operands.strides[2][last] == 0 && operands.strides[1][last] == 1 &&
         shape.stride % vector == 0 && allows_vectors(copied, vector);
}

template <template <typename> class Op, typename T>
void launch_read_of(const IndexShape& whole, cudaStream_t stream) {
  constexpr int kVector = 16 / sizeof(T);
  for_each_piece(whole.operands, [&](const StridedShape& piece) {
    const IndexShape shape{piece, whole.stride, whole.size};
    const bool in_vectors = index_allows_vectors(shape, kVector);
    if (piece.element_bytes[2] == 8) {
      return in_vectors ? launch_read<Op<T>, T, int64_t, kVector>(shape, stream)
                        : launch_read<Op<T>, T, int64_t, 1>(shape, stream);
    }
    in_vectors ? launch_read<Op<T>, T, int32_t, kVector>(shape, stream)
               : launch_read<Op<T>, T, int32_t, 1>(shape, stream);
  });
}

template <template <typename> class Op>
void launch_op(const IndexShape& shape, cudaStream_t stream) {
  switch (shape.operands.element_bytes[0]) {
    case 1:
      return launch_read_of<Op, uint8_t>(shape, stream);
    case 2:
      return launch_read_of<Op, uint16_t>(shape, stream);
    case 4:
      return launch_read_of<Op, uint32_t>(shape, stream);
    default:
      return launch_read_of<Op, uint64_t>(shape, stream);
  }
}

void launch_gather(const IndexShape& shape, cudaStream_t stream) {
  launch_op<Gather>(shape, stream);
}

void launch_index_select(const IndexShape& shape, cudaStream_t stream) {
  launch_op<IndexSelect>(shape, stream);
}

}  // namespace epi::cuda
