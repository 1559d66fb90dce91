// SPDX-License-Identifier: Apache-2.0
// Locations of operands: every address is a base (an input, the arena, a result or a parameter)
// plus an offset.
#pragma once

#include <span>

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

// Bases other than inputs are negative.
inline constexpr int kArena = -1;
inline constexpr int kParameter = -2;
inline constexpr int kFirstResult = -3;  // the next result is one less, and so on

// A tensor without its storage.
struct Place {
  int base = 0;  // an input's index, or one of the constants above
  Layout layout{};
  int64_t offset = 0;  // in elements, from the first element of the base or the start of the arena
  DType dtype = DType::kF32;
  Tensor parameter{};
};

// The tensors of one call that places refer to.
struct CallTensors {
  std::span<const Tensor> inputs;
  std::span<const Tensor> results;
  const Tensor* arena = nullptr;  // a tensor of bytes, if the plan has one

  const Tensor& base(const Place& place) const {
    if (place.base >= 0) return inputs[static_cast<size_t>(place.base)];
    if (place.base == kArena) return *arena;
    if (place.base == kParameter) return place.parameter;
    return results[static_cast<size_t>(kFirstResult - place.base)];
  }
  std::byte* address(const Place& place) const {
    return base(place).raw_data() + place.offset * size_bytes(place.dtype);
  }
  Tensor tensor(const Place& place) const {
    const Tensor& whole = base(place);
    return {whole.storage(), place.layout, whole.offset() + place.offset, place.dtype};
  }
};

}  // namespace epi::compiler
