// SPDX-License-Identifier: Apache-2.0
// The device that the operator tests run on: the CPU, or with EPI_TEST_DEVICE=cuda the first GPU.
// Inputs are created on the CPU and moved together with their whole storage. Results are moved back
// the same way.
#pragma once

#include "epilogue/tensor/tensor.h"

namespace epi {

Device test_device();
// `x` with the same layout over a copy of its whole storage. The copy
// does not use the kernels under test.
Tensor on_test_device(const Tensor& x);
Tensor on_host(const Tensor& x);

}  // namespace epi
