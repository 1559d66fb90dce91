// SPDX-License-Identifier: Apache-2.0
// Tensors as the plain numbers that launchers take.
#pragma once

#include <initializer_list>

#include "epilogue/cuda/strided_shape.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cuda {

// `tensors`, the output first, each broadcast to the output's shape; dimensions merged.
StridedShape strided_shape(std::initializer_list<const Tensor*> tensors);

// Throws `Error` naming `op` where the launch that was made last did not start.
void check_launch(std::string_view op);

}  // namespace epi::cuda
