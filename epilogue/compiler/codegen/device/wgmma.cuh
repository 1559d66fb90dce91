// SPDX-License-Identifier: Apache-2.0
// d[64, n] (+)= a[64, 16] @ b[n, 16].t(), both in shared memory, for every n that kernels use.
#pragma once

#include "epilogue/compiler/codegen/device/hopper.cuh"
#include "epilogue/compiler/codegen/device/walk.cuh"

// clang-format off
// The sums of m64nNk16 are N / 2 registers of a thread: operands %0, %1, ..., and d[0], d[1], ...
// as outputs.
#define EPI_REGISTERS_4 "%0, %1, %2, %3"
#define EPI_REGISTERS_8 EPI_REGISTERS_4 \
  ", %4, %5, %6, %7"
#define EPI_REGISTERS_16 EPI_REGISTERS_8 \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define EPI_REGISTERS_32 EPI_REGISTERS_16 \
  ", %16, %17, %18, %19, %20, %21, %22, %23" \
  ", %24, %25, %26, %27, %28, %29, %30, %31"
#define EPI_REGISTERS_64 EPI_REGISTERS_32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39" \
  ", %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55" \
  ", %56, %57, %58, %59, %60, %61, %62, %63"
#define EPI_REGISTERS_96 EPI_REGISTERS_64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71" \
  ", %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87" \
  ", %88, %89, %90, %91, %92, %93, %94, %95"
#define EPI_REGISTERS_128 EPI_REGISTERS_96 \
  ", %96, %97, %98, %99, %100, %101, %102, %103" \
  ", %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119" \
  ", %120, %121, %122, %123, %124, %125, %126, %127"
#define EPI_SUMS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define EPI_SUMS_8(i) EPI_SUMS_4(i), EPI_SUMS_4(i + 4)
#define EPI_SUMS_16(i) EPI_SUMS_8(i), EPI_SUMS_8(i + 8)
#define EPI_SUMS_32(i) EPI_SUMS_16(i), EPI_SUMS_16(i + 16)
#define EPI_SUMS_64(i) EPI_SUMS_32(i), EPI_SUMS_32(i + 32)
#define EPI_SUMS_96(i) EPI_SUMS_64(i), EPI_SUMS_32(i + 64)
#define EPI_SUMS_128(i) EPI_SUMS_64(i), EPI_SUMS_64(i + 64)

#define EPI_WGMMA(n, T, type, count, a_operand, b_operand, add_operand)                            \
  template <>                                                                                      \
  struct Wgmma<T, n> {                                                                             \
    static __device__ __forceinline__ void multiply(float (&d)[count], u64 a, u64 b, bool add) {   \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add_operand ", 0;\n"                        \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type                 \
                   " {" EPI_REGISTERS_##count "}, " a_operand ", " b_operand                       \
                   ", p, 1, 1, 0, 0;\n}"                                                           \
                   : EPI_SUMS_##count(0)                                                           \
                   : "l"(a), "l"(b), "r"(static_cast<u32>(add)));                                  \
    }                                                                                              \
  };

namespace epi::device {

template <typename T, int kN>
struct Wgmma;
EPI_WGMMA(8, bf16, "bf16", 4, "%4", "%5", "%6")
EPI_WGMMA(8, f16, "f16", 4, "%4", "%5", "%6")
EPI_WGMMA(16, bf16, "bf16", 8, "%8", "%9", "%10")
EPI_WGMMA(16, f16, "f16", 8, "%8", "%9", "%10")
EPI_WGMMA(32, bf16, "bf16", 16, "%16", "%17", "%18")
EPI_WGMMA(32, f16, "f16", 16, "%16", "%17", "%18")
EPI_WGMMA(64, bf16, "bf16", 32, "%32", "%33", "%34")
EPI_WGMMA(64, f16, "f16", 32, "%32", "%33", "%34")
EPI_WGMMA(128, bf16, "bf16", 64, "%64", "%65", "%66")
EPI_WGMMA(128, f16, "f16", 64, "%64", "%65", "%66")
EPI_WGMMA(192, bf16, "bf16", 96, "%96", "%97", "%98")
EPI_WGMMA(192, f16, "f16", 96, "%96", "%97", "%98")
EPI_WGMMA(256, bf16, "bf16", 128, "%128", "%129", "%130")
EPI_WGMMA(256, f16, "f16", 128, "%128", "%129", "%130")

}  // namespace epi::device
// clang-format on
