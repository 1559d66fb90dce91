// SPDX-License-Identifier: Apache-2.0
// d[64, n] (+)= a[64, 64] @ b[n, 64].t(), both in shared memory, for every n that kernels use.
#pragma once

#include "epilogue/compiler/codegen/device/hopper.cuh"
#include "epilogue/compiler/codegen/device/walk.cuh"

// clang-format off
// The sums of m64nNk16 are N / 2 registers per thread: operands %0, %1, ..., and d[0], d[1], ...
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
#define EPI_SUMS_4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define EPI_SUMS_8 EPI_SUMS_4, \
  "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define EPI_SUMS_16 EPI_SUMS_8, \
  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), \
  "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define EPI_SUMS_32 EPI_SUMS_16, \
  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), \
  "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
  "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
  "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define EPI_SUMS_64 EPI_SUMS_32, \
  "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), \
  "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), \
  "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
  "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), \
  "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
  "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), \
  "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define EPI_SUMS_96 EPI_SUMS_64, \
  "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), \
  "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
  "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), \
  "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), \
  "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), \
  "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), \
  "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define EPI_SUMS_128 EPI_SUMS_96, \
  "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), \
  "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), \
  "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), \
  "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), \
  "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), \
  "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), \
  "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), \
  "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// Four instructions for 16 columns each, 32 bytes apart: 2 in the unit of descriptors. One
// statement, because the compiler's time grows with the number of statements that change the sums.
#define EPI_WGMMA_INSTRUCTION(n, type, count, add)                                                 \
  "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type                                  \
  " {" EPI_REGISTERS_##count "}, a, b, " add ", 1, 1, 0, 0;\n"
#define EPI_WGMMA_NEXT(n, type, count)                                                             \
  "add.s64 a, a, 2;\nadd.s64 b, b, 2;\n" EPI_WGMMA_INSTRUCTION(n, type, count, "yes")
#define EPI_WGMMA(n, T, type, count, a_operand, b_operand, add_operand)                            \
  template <>                                                                                      \
  __device__ __forceinline__ void multiply<T, n>(float (&d)[count], u64 a, u64 b, bool add) {      \
    asm volatile("{\n.reg .pred p, yes;\n.reg .b64 a, b;\n"                                        \
                 "setp.ne.b32 p, " add_operand ", 0;\nsetp.eq.b32 yes, 0, 0;\n"                    \
                 "mov.b64 a, " a_operand ";\nmov.b64 b, " b_operand ";\n"                          \
                 EPI_WGMMA_INSTRUCTION(n, type, count, "p") EPI_WGMMA_NEXT(n, type, count)         \
                 EPI_WGMMA_NEXT(n, type, count) EPI_WGMMA_NEXT(n, type, count) "}"                 \
                 : EPI_SUMS_##count                                                                \
                 : "l"(a), "l"(b), "r"(static_cast<u32>(add)));                                    \
  }

namespace epi::device {

template <typename T, int kN>
__device__ __forceinline__ void multiply(float (&d)[kN / 2], u64 a, u64 b, bool add);
// A source with one kernel defines EPI_ONLY_N: NVRTC would take 4 ms for the others.
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 8
EPI_WGMMA(8, bf16, "bf16", 4, "%4", "%5", "%6")
EPI_WGMMA(8, f16, "f16", 4, "%4", "%5", "%6")
#endif
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 16
EPI_WGMMA(16, bf16, "bf16", 8, "%8", "%9", "%10")
EPI_WGMMA(16, f16, "f16", 8, "%8", "%9", "%10")
#endif
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 32
EPI_WGMMA(32, bf16, "bf16", 16, "%16", "%17", "%18")
EPI_WGMMA(32, f16, "f16", 16, "%16", "%17", "%18")
#endif
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 64
EPI_WGMMA(64, bf16, "bf16", 32, "%32", "%33", "%34")
EPI_WGMMA(64, f16, "f16", 32, "%32", "%33", "%34")
#endif
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 128
EPI_WGMMA(128, bf16, "bf16", 64, "%64", "%65", "%66")
EPI_WGMMA(128, f16, "f16", 64, "%64", "%65", "%66")
#endif
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 192
EPI_WGMMA(192, bf16, "bf16", 96, "%96", "%97", "%98")
EPI_WGMMA(192, f16, "f16", 96, "%96", "%97", "%98")
#endif
#if !defined(EPI_ONLY_N) || EPI_ONLY_N == 256
EPI_WGMMA(256, bf16, "bf16", 128, "%128", "%129", "%130")
EPI_WGMMA(256, f16, "f16", 128, "%128", "%129", "%130")
#endif

}  // namespace epi::device
// clang-format on
