// SPDX-License-Identifier: Apache-2.0
// Hopper's instructions for GEMMs: barriers, TMA copies of tiles, and wgmma.
#pragma once

namespace epi::device {

typedef unsigned u32;
typedef unsigned long long u64;

// A descriptor written by cuTensorMapEncodeTiled, passed by value.
struct alignas(64) TensorMap {
  u64 words[16];
};

// Operands of the epilogue besides the sums.
inline constexpr int kMaxOperands = 12;
struct Operands {
  const char* data[kMaxOperands];
};

__device__ __forceinline__ u32 address_of(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

// --- Barriers in shared memory, which count arrivals and transferred bytes. ----------------------
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
// Synchronizes `threads` threads of a block at barrier `id`.
__device__ __forceinline__ void barrier_sync(u32 id, u32 threads) {
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
// Copies a piece of contiguous memory. All arguments are multiples of 16 bytes.
__device__ __forceinline__ void copy_bytes(u32 to, const void* from, u32 bytes, u32 barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void store_tile(const TensorMap* map, int column, int row, u32 from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(from), "r"(column), "r"(row)
      : "memory");
}
__device__ __forceinline__ void prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// --- Multiplication by a warpgroup -------------------------------------------------------------
// Descriptor of a tile in shared memory: rows of 64 elements, swizzled over 128 bytes. Eight rows
// take 1024 bytes.
__device__ __forceinline__ u64 tile_descriptor(u32 address) {
  return (u64{1} << 62) | (u64{1024 >> 4} << 32) | (u64{1} << 16) | ((address & 0x3ffff) >> 4);
}
__device__ __forceinline__ void begin_mma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_mma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Keeps reads of the wgmma results after its wait.
template <int kCount>
__device__ __forceinline__ void fence_sums(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int kInFlight>
__device__ __forceinline__ void wait_mma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kInFlight) : "memory");
}

// Stores the warp's 16 by 16 elements from the registers in which wgmma leaves them. Lane i has the
// address of row i % 16, in the left or the right half.
__device__ __forceinline__ void store_matrices(u32 to, const u32 (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace epi::device
