// SPDX-License-Identifier: Apache-2.0
// act(gate) * up for dense 16-bit matrices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "epilogue/pointwise/table.h"
#include "epilogue/tensor/dtype_enum.h"

namespace epi::cuda {

// Addresses are multiples of 16 bytes, the number of elements is a multiple of 8. `out` may be
// `gate`.
struct GluGate {
  const void* gate = nullptr;
  const void* up = nullptr;
  void* out = nullptr;
  int64_t elements = 0;
};
// The activation is gelu, gelu_tanh, relu or silu; bf16 and f16. The caller checks
// cudaGetLastError.
void launch_glu_gate(DType dtype, pointwise::Function activation, const GluGate& glu,
                     cudaStream_t stream);

// Loads the kernel, which must not happen while a stream is captured. Throws `Error`.
void load_glu_gate(DType dtype, pointwise::Function activation, int device);

}  // namespace epi::cuda
