// SPDX-License-Identifier: Apache-2.0
// d[16, 8] += a[16, 16] @ b[8, 16].t() by a warp, with all operands in registers.
#pragma once

#include "epilogue/compiler/codegen/device/hopper.cuh"
#include "epilogue/compiler/codegen/device/walk.cuh"

namespace epi::device {

#define EPI_MULTIPLY_16X8(type)                                                       \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                 \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                       \
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))

template <typename T>
__device__ __forceinline__ void multiply_16x8(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0,
                                              u32 b1);
template <>
__device__ __forceinline__ void multiply_16x8<bf16>(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3,
                                                    u32 b0, u32 b1) {
  EPI_MULTIPLY_16X8("bf16");
}
template <>
__device__ __forceinline__ void multiply_16x8<f16>(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3,
                                                   u32 b0, u32 b1) {
  EPI_MULTIPLY_16X8("f16");
}
#undef EPI_MULTIPLY_16X8

}  // namespace epi::device
