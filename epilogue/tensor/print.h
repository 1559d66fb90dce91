// SPDX-License-Identifier: Apache-2.0
// Tensors as text: one line of facts, then the elements, long dimensions shortened.
#pragma once

#include <string>

#include "epilogue/tensor/tensor.h"

namespace epi {

// "f32 [2, 3] strides [3, 1] cpu", without elements.
std::string describe(const Tensor& tensor);
// `describe`, and on the CPU the elements in brackets, at most six of each dimension.
std::string to_string(const Tensor& tensor);

}  // namespace epi
