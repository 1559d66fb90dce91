// SPDX-License-Identifier: Apache-2.0
// Converts tensors to the plain structs that launchers take.
#pragma once

#include <initializer_list>

#include "epilogue/cuda/strided_shape.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

// Broadcasts `tensors`, the output first, to the output's shape and merges dimensions.
StridedShape strided_shape(std::initializer_list<const Tensor*> tensors);
// The same for the four operands of where.
ChoiceShape choice_shape(std::initializer_list<const Tensor*> tensors);

// Throws `Error` naming `op` if the last launch failed.
void check_launch(std::string_view op);

}  // namespace epi::cuda
