// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
namespace {

constexpr const char* kPrelude = R"cuda(
typedef unsigned u32;
typedef unsigned long long u64;

// What cuTensorMapEncodeTiled wrote; passed by value.
struct alignas(64) TensorMap { u64 words[16]; };

// Operands of the epilogue, beside the sums.
struct Operands { const char* data[@operands@]; };

__device__ __forceinline__ u32 address_of(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

// --- Barriers in shared memory, which count arrivals and bytes that have come. -------------------
__device__ __forceinline__ void init_barrier(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
__device__ __forceinline__ void expect_bytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void wait(u32 barrier, u32 parity) {
  u32 done;
  do {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}
// `threads` of a block meet at barrier `id`.
__device__ __forceinline__ void meet(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// --- Tiles between global and shared memory. -----------------------------------------------------
__device__ __forceinline__ void load_tile(u32 to, const TensorMap* map, int column, int row,
                                          u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(column), "r"(row)
      : "memory");
}
__device__ __forceinline__ void store_tile(const TensorMap* map, int column, int row, u32 from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
                   map),
               "r"(from), "r"(column), "r"(row)
               : "memory");
}
__device__ __forceinline__ void fetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// --- Matrix products by a warpgroup. -------------------------------------------------------------
// A tile in shared memory: rows of 64 elements, swizzled over 128 bytes, eight of them 1024 bytes.
__device__ __forceinline__ u64 tile_at(u32 address) {
  return (u64{1} << 62) | (u64{1024 >> 4} << 32) | (u64{1} << 16) | ((address & 0x3ffff) >> 4);
}
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// What products wrote is read behind their wait, and not before.
template <int kCount> __device__ __forceinline__ void fence_sums(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int kInFlight> __device__ __forceinline__ void await_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kInFlight) : "memory");
}

// The warp's 16 by 16 elements, from the places in which products leave them; lane i has the address of
// row i % 16, in the left or the right half.
__device__ __forceinline__ void store_matrices(u32 to, const u32 (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// --- Two neighbours in a row, as the epilogue sees them. ------------------------------------------
struct Pair {
  float a, b;
  __device__ __forceinline__ Pair(float both) : a(both), b(both) {}
  __device__ __forceinline__ Pair(float first, float second) : a(first), b(second) {}
};
__device__ __forceinline__ Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
__device__ __forceinline__ Pair operator-(Pair x, Pair y) { return {x.a - y.a, x.b - y.b}; }
__device__ __forceinline__ Pair operator*(Pair x, Pair y) { return {x.a * y.a, x.b * y.b}; }
__device__ __forceinline__ Pair operator/(Pair x, Pair y) { return {x.a / y.a, x.b / y.b}; }
__device__ __forceinline__ Pair operator-(Pair x) { return {-x.a, -x.b}; }
__device__ __forceinline__ Pair fmaf(Pair x, Pair y, Pair z) {
  return {fmaf(x.a, y.a, z.a), fmaf(x.b, y.b, z.b)};
}
__device__ __forceinline__ Pair relu(Pair x) { return {relu(x.a), relu(x.b)}; }
__device__ __forceinline__ Pair expf(Pair x) { return {expf(x.a), expf(x.b)}; }
__device__ __forceinline__ Pair tanhf(Pair x) { return {tanhf(x.a), tanhf(x.b)}; }
__device__ __forceinline__ Pair gelu(Pair x) { return {gelu(x.a), gelu(x.b)}; }
// 1 + 2^x, right to 2^-17; from 2^63 on what it is there, and where x is no number.
__device__ __forceinline__ float one_and_power(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(fminf(x, 63.0f)));
  return 1.0f + y;
}
// At least -10^9; what is no number stays.
__device__ __forceinline__ float bounded(float x) {
  float y;
  asm("max.NaN.f32 %0, %1, 0fCE6E6B28;" : "=f"(y) : "f"(x));
  return y;
}
// x / (1 + 2^u), both with one reciprocal: the unit that has it and powers is the bottleneck of an
// epilogue. Where the quotient vanishes, 2^-63 of the bounded x is left, 10^-10 at most.
__device__ __forceinline__ Pair over_one_and_power(Pair x, Pair u) {
  const float a = one_and_power(u.a), b = one_and_power(u.b);
  const float both = reciprocal(a * b);
  return {bounded(x.a) * (both * b), bounded(x.b) * (both * a)};
}
__device__ __forceinline__ Pair sigmoid(Pair x) {
  const Pair one(x.a == x.a ? 1.0f : x.a, x.b == x.b ? 1.0f : x.b);
  return over_one_and_power(one, x * -1.4426950408889634f);
}
__device__ __forceinline__ Pair silu(Pair x) {
  return over_one_and_power(x, x * -1.4426950408889634f);
}
// x (1 + tanh(u)) / 2 is x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
__device__ __forceinline__ Pair gelu_tanh(Pair x) {
  return over_one_and_power(x, x * fmaf(x * x, Pair(-0.10294324f), Pair(-2.3022082f)));
}

template <typename T> __device__ __forceinline__ Pair rounded_to(Pair x) {
  return {to_float(rounded<T>(x.a)), to_float(rounded<T>(x.b))};
}
// As they lie in memory.
template <typename T> __device__ __forceinline__ u32 packed(Pair x);
template <> __device__ __forceinline__ u32 packed<bf16>(Pair x) {
  u32 y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(x.b), "f"(x.a));
  return y;
}
template <> __device__ __forceinline__ u32 packed<f16>(Pair x) {
  u32 y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(x.b), "f"(x.a));
  return y;
}
template <typename T> __device__ __forceinline__ float read_one(const char* data, long long at) {
  return to_float(reinterpret_cast<const T*>(data)[at]);
}
// `second` is the place of the neighbour: the next, or the same.
template <typename T> __device__ __forceinline__ Pair read_pair(const char* data, long long at, int second) {
  const T* from = reinterpret_cast<const T*>(data) + at;
  return {to_float(from[0]), to_float(from[second])};
}
)cuda";

// d[64, n] (+)= a[64, 16] @ b[n, 16].t(), both in shared memory.
std::string multiply_function(int n, const char* type, const char* ptx_type) {
  const int count = n / 2;
  std::string registers;
  std::string operands;
  for (int i = 0; i < count; ++i) {
    registers += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    operands += fmt::format("{}\"+f\"(d[{}])", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "template <> __device__ __forceinline__ void multiply_{0}<{1}>(float (&d)[{2}], u64 a, u64 "
      "b,\n"
      "                                                              bool add) {{\n"
      "  asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{6}, 0;\\n\"\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{3}.{3} {{{4}}}, %{7}, %{8}, p, 1, 1, "
      "0, \"\n"
      "      \"0;\\n}}\"\n      : {5}\n      : \"l\"(a), \"l\"(b), "
      "\"r\"(static_cast<u32>(add)));\n}}\n",
      n, type, count, ptx_type, registers, operands, count + 2, count, count + 1);
}

}  // namespace

std::string hopper_prelude() {
  std::string out = filled(kPrelude, {{"operands", std::to_string(kMostHopperOperands)}});
  for (const int n : {8, 16, 32, 64, 128, 192, 256}) {
    out += fmt::format(
        "template <typename T>\n__device__ __forceinline__ void multiply_{}(float (&d)[{}], u64 a, "
        "u64 b, bool add);\n",
        n, n / 2);
    out += multiply_function(n, "bf16", "bf16") + multiply_function(n, "f16", "f16");
  }
  return out;
}

}  // namespace epi::compiler
