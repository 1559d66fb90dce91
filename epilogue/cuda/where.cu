// SPDX-License-Identifier: Apache-2.0
// where: elements are chosen by their size, whatever their dtype.
#include "epilogue/cuda/element.cuh"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/walk.cuh"

namespace epi::cuda {

constexpr int kWhereThreads = 256;

// Names the operator in traces.
template <typename T>
struct Where {
  T numbers[2];
};

// A number has no data.
template <typename T, int kVector>
__device__ __forceinline__ Pack<T, kVector> choice(const BasicWalk<4>& walk, int operand,
                                                   int64_t offset, T number) {
  const T* from = reinterpret_cast<const T*>(walk.data[operand]) + offset;
  const bool is_number = walk.data[operand] == nullptr;
  if (kVector == 1 && !is_number) return *reinterpret_cast<const Pack<T, kVector>*>(from);
  const bool is_broadcast = is_number || (walk.broadcast >> operand & 1) != 0;
  if (!is_broadcast) return *reinterpret_cast<const Pack<T, kVector>*>(from);
  const T value = is_number ? number : *from;
  Pack<T, kVector> pack;
#pragma unroll
  for (int k = 0; k < kVector; ++k) pack.values[k] = value;
  return pack;
}

template <typename F, typename T, int kVector>
__global__ void __launch_bounds__(kWhereThreads)
    choose(const __grid_constant__ BasicWalk<4> walk, F where) {
  const uint32_t index = blockIdx.x * kWhereThreads + threadIdx.x;
  if (index >= walk.items) return;
  int64_t offsets[4];
  offsets_of(walk, index, offsets);
  const auto condition = choice<uint8_t, kVector>(walk, 1, offsets[1], 0);
  const auto x = choice<T, kVector>(walk, 2, offsets[2], where.numbers[0]);
  const auto other = choice<T, kVector>(walk, 3, offsets[3], where.numbers[1]);
  Pack<T, kVector> result;
#pragma unroll
  for (int k = 0; k < kVector; ++k) {
    result.values[k] = condition.values[k] != 0 ? x.values[k] : other.values[k];
  }
  T* to = reinterpret_cast<T*>(walk.data[0]) + offsets[0];
  *reinterpret_cast<Pack<T, kVector>*>(to) = result;
}

template <typename T, int kVector>
void launch_choose(const ChoiceShape& shape, Where<T> where, cudaStream_t stream) {
  const BasicWalk<4> walk = make_walk(shape, kVector);
  const uint32_t blocks = (walk.items + kWhereThreads - 1) / kWhereThreads;
  choose<Where<T>, T, kVector><<<blocks, kWhereThreads, 0, stream>>>(walk, where);
}

template <typename T>
void launch_where_of(const ChoiceShape& whole, const ChoiceNumbers& numbers, cudaStream_t stream) {
  constexpr int kVector = 16 / sizeof(T);
  const Where<T> where{{static_cast<T>(numbers.bits[0]), static_cast<T>(numbers.bits[1])}};
  for_each_piece(whole, [&](const ChoiceShape& shape) {
    if (allows_vectors(shape, kVector)) return launch_choose<T, kVector>(shape, where, stream);
    launch_choose<T, 1>(shape, where, stream);
  });
}

void launch_where(const ChoiceShape& shape, const ChoiceNumbers& numbers, cudaStream_t stream) {
  switch (shape.element_bytes[0]) {
    case 1:
      return launch_where_of<uint8_t>(shape, numbers, stream);
    case 2:
      return launch_where_of<uint16_t>(shape, numbers, stream);
    case 4:
      return launch_where_of<uint32_t>(shape, numbers, stream);
    default:
      return launch_where_of<uint64_t>(shape, numbers, stream);
  }
}

}  // namespace epi::cuda
