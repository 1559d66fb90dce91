// SPDX-License-Identifier: Apache-2.0
// act(gate) * up for dense 16-bit matrices: what is left of a gated MLP if a library computes gate
// and up.
#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/glu_gate.h"
#include "epilogue/cuda/pointwise_functions.cuh"

namespace epi::cuda {
namespace {

constexpr int kElements = 8;  // one 16-byte vector per thread

template <typename T, template <typename> typename F>
__global__ void __launch_bounds__(kThreads)
    glu_gate(const Pack<T, kElements>* gate, const Pack<T, kElements>* up, Pack<T, kElements>* out,
             int64_t vectors) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const Pack<T, kElements> g = gate[i];
  const Pack<T, kElements> u = up[i];
  Pack<T, kElements> result;
#pragma unroll
  for (int k = 0; k < kElements; ++k) {
    result.values[k] = rounded<T>(load(F<T>{}(load(g.values[k]))) * load(u.values[k]));
  }
  out[i] = result;
}

// Calls f with the kernel of a dtype and an activation.
template <template <typename> typename F, typename Use>
void with_kernel(DType dtype, Use&& use) {
  dtype == DType::kBF16 ? use(Type<bf16>{}, glu_gate<bf16, F>) : use(Type<f16>{}, glu_gate<f16, F>);
}
template <typename Use>
void with_kernel(DType dtype, pointwise::Function activation, Use&& use) {
  switch (activation) {
    case pointwise::Function::kGeluTanh:
      return with_kernel<GeluTanh>(dtype, use);
    case pointwise::Function::kSilu:
      return with_kernel<Silu>(dtype, use);
    case pointwise::Function::kGelu:
      return with_kernel<Gelu>(dtype, use);
    default:
      return with_kernel<Relu>(dtype, use);
  }
}

}  // namespace

void launch_glu_gate(DType dtype, pointwise::Function activation, const GluGate& glu,
                     cudaStream_t stream) {
  const int64_t vectors = glu.elements / kElements;
  const auto blocks = static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
  with_kernel(dtype, activation, [&](auto type, auto kernel) {
    using Vector = Pack<typename decltype(type)::type, kElements>;
    kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const Vector*>(glu.gate),
                                            static_cast<const Vector*>(glu.up),
                                            static_cast<Vector*>(glu.out), vectors);
  });
}

void load_glu_gate(DType dtype, pointwise::Function activation, int device) {
  const DeviceGuard guard(device);
  with_kernel(dtype, activation, [&](auto /*type*/, auto kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  });
}

}  // namespace epi::cuda
