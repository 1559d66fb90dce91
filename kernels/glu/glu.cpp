// SPDX-License-Identifier: Apache-2.0
// gelu_tanh_and_mul and silu_and_mul for the CPU: out = act(gate) * up, in one pass. Compiled once
// per instruction set. The compiler vectorizes the plain C++ loop.
#include <cstdio>

#include "epilogue/cpu/loops/access.h"
#include "epilogue/kernel_abi.h"

namespace {

using namespace epi::cpu::EPI_ISA;

// Elements per part: enough to amortize the cost of a parallel task, and few enough for the L2
// cache.
constexpr int64_t kGrain = 16384;

struct GeluTanh {
  EPI_INLINE static float apply(float x) { return gelu_tanh(x); }
};
struct Silu {
  EPI_INLINE static float apply(float x) { return silu(x); }
};

template <typename Activation, typename T>
void run_row(const T* __restrict gate, const T* __restrict up, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    store(out[i], Activation::apply(load(gate[i])) * load(up[i]));
  }
}

template <typename T>
struct Rows {
  const T* gate;
  const T* up;
  T* out;
  int64_t columns;
  int64_t gate_stride, up_stride, out_stride;
};

// Computes elements [begin, end), counted across all rows.
template <typename Activation, typename T>
void run_part(void* context, int64_t begin, int64_t end) {
  const Rows<T>& rows = *static_cast<const Rows<T>*>(context);
  while (begin < end) {
    const int64_t row = begin / rows.columns;
    const int64_t at = begin % rows.columns;
    const int64_t count = end - begin < rows.columns - at ? end - begin : rows.columns - at;
    run_row<Activation>(rows.gate + row * rows.gate_stride + at,
                        rows.up + row * rows.up_stride + at, rows.out + row * rows.out_stride + at,
                        count);
    begin += count;
  }
}

template <typename Activation, typename T>
void run_all(const epi_kernel_call& call) {
  const auto* gate = call.operands[0];
  Rows<T> rows{static_cast<const T*>(gate->data),
               static_cast<const T*>(call.operands[1]->data),
               static_cast<T*>(call.operands[2]->data),
               gate->shape[1],
               gate->strides[0],
               call.operands[1]->strides[0],
               call.operands[2]->strides[0]};
  const int64_t count = gate->shape[0] * gate->shape[1];
  const bool dense = rows.gate_stride == rows.columns && rows.up_stride == rows.columns &&
                     rows.out_stride == rows.columns;
  if (dense) rows.columns = count;
  if (count > 0) call.parallel_for(count, kGrain, run_part<Activation, T>, &rows);
}

template <typename Activation>
int32_t run(const epi_kernel_call* call) {
  const DLDataType type = call->operands[0]->dtype;
  if (type.code == kDLBfloat && type.bits == 16) {
    run_all<Activation, epi::BFloat16>(*call);
  } else if (type.code == kDLFloat && type.bits == 16) {
    run_all<Activation, epi::Half>(*call);
  } else if (type.code == kDLFloat && type.bits == 32) {
    run_all<Activation, float>(*call);
  } else {
    std::snprintf(call->error, call->error_bytes, "no kernel for dtype code %d with %d bits",
                  type.code, type.bits);
    return 1;
  }
  return 0;
}

constexpr epi_kernel_entry kKernels[] = {{"gelu_tanh_and_mul", run<GeluTanh>},
                                         {"silu_and_mul", run<Silu>}};
constexpr epi_kernel_api kApi = {sizeof(epi_kernel_api), EPI_KERNEL_ABI, 2, 0, kKernels};

}  // namespace

EPI_KERNEL_EXPORT const epi_kernel_api* epi_kernel_get_api(uint32_t abi) {
  return abi == EPI_KERNEL_ABI ? &kApi : nullptr;
}
