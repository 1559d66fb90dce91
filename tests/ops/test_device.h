// SPDX-License-Identifier: Apache-2.0
// The device that the operator tests run on: the CPU, or with EPI_TEST_DEVICE=cuda the first GPU.
// Inputs are made on the CPU and moved with all of their storage; results are moved back likewise.
#pragma once

#include "epilogue/tensor/tensor.h"

namespace epi {

Device test_device();
// The same layout over a copy of the whole storage, which no kernel that is tested has made.
Tensor on_test_device(const Tensor& x);
Tensor on_host(const Tensor& x);

}  // namespace epi
