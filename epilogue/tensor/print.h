// SPDX-License-Identifier: Apache-2.0
// Formats tensors as text: a one-line summary, then the elements, with long dimensions abbreviated.
#pragma once

#include <string>

#include "epilogue/tensor/tensor.h"

namespace epi {

// "f32 [2, 3] strides [3, 1] cpu", without elements.
std::string describe(const Tensor& tensor);
// `describe`, followed by the elements in brackets if the tensor is on the CPU. Shows at most six
// elements of each dimension.
std::string to_string(const Tensor& tensor);

}  // namespace epi
