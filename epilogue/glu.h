// SPDX-License-Identifier: Apache-2.0
/* The feed-forward block y = down(act(x gate^T + b_gate) * (x up^T + b_up)) + b_down on a Hopper
 * GPU, for programs that have their own memory and streams. No copy of the weights. C and C++.
 *
 *   epi_glu_block block = {sizeof block, 0, EPI_GLU_BF16, EPI_GLU_SILU, 0, k, n, k};
 *   epi_glu* glu = NULL;
 *   epi_glu_create(&block, &glu);
 *   epi_glu_prepare(glu);  // before a capture: generates or loads code
 *   epi_glu_call call = {sizeof call, EPI_GLU_AUTO, stream, m, x, k, gate, up, down};
 *   call.y = y;
 *   call.workspace_bytes = epi_glu_workspace_bytes(glu, m, EPI_GLU_AUTO);
 *   call.workspace = allocate(call.workspace_bytes);
 *   epi_glu_run(glu, &call);
 *
 * x is [m, k] with a row stride, gate and up are [n, k], down is [out, n], y is [m, out]; biases
 * have n, n and out elements. All but x are dense and row-major. Elements have 16 bits. Addresses
 * are multiples of 16 bytes; n, k, out and the row stride of x are multiples of 8.
 *
 * One handle serves any number of rows, layers with the same sizes, and several threads at the same
 * time. Up to 64 rows, and from a few hundred rows on, two custom kernels run. In between, where a
 * library that splits sums is faster, cuBLASLt and one kernel for the activation run behind the
 * same call. */
#ifndef EPILOGUE_GLU_H
#define EPILOGUE_GLU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* a cudaStream_t is a pointer to it */

typedef struct epi_glu epi_glu;

typedef enum { EPI_GLU_BF16 = 0, EPI_GLU_F16 = 1 } epi_glu_dtype;
typedef enum {
  EPI_GLU_GELU_TANH = 0,
  EPI_GLU_SILU = 1,
  EPI_GLU_GELU_ERF = 2,
  EPI_GLU_RELU = 3
} epi_glu_activation;

typedef enum {
  EPI_GLU_OK = 0,
  EPI_GLU_BAD_SIZE = 1,     /* m below 1; n, k, out or a stride not a positive multiple of 8 */
  EPI_GLU_BAD_ADDRESS = 2,  /* null, not aligned, or a bias that the block does not have */
  EPI_GLU_WORKSPACE = 3,    /* smaller than epi_glu_workspace_bytes */
  EPI_GLU_NOT_PREPARED = 4, /* epi_glu_prepare was not called */
  EPI_GLU_UNSUPPORTED = 5,  /* no Hopper GPU, a build without CUDA, another dtype or activation */
  EPI_GLU_FAILED = 6        /* CUDA or the compiler: epi_glu_message */
} epi_glu_status;

/* Describes a status. */
const char* epi_glu_status_text(epi_glu_status status);

typedef enum { EPI_GLU_GATE_BIAS = 1, EPI_GLU_UP_BIAS = 2, EPI_GLU_DOWN_BIAS = 4 } epi_glu_bias;

/* What the code of a block depends on. */
typedef struct epi_glu_block {
  uint32_t struct_size; /* sizeof(epi_glu_block) */
  int32_t device;
  epi_glu_dtype dtype;
  epi_glu_activation activation;
  uint32_t biases; /* a sum of epi_glu_bias */
  int64_t k;       /* columns of x, gate and up */
  int64_t n;       /* rows of gate and up, columns of down */
  int64_t out;     /* rows of down, columns of y */
} epi_glu_block;

epi_glu_status epi_glu_create(const epi_glu_block* block, epi_glu** out);

/* Waits for the device. Graphs that captured calls stay valid: such a handle and its code stay in
 * memory until the process ends. */
void epi_glu_destroy(epi_glu* glu);

/* Loads the code for any number of rows from the disk cache, or compiles it with NVRTC on several
 * threads: one or two seconds for the first block of a size, milliseconds later. Threads may call
 * it concurrently for different handles, also while a stream is captured. */
epi_glu_status epi_glu_prepare(epi_glu* glu);

/* Why the calling thread's last call failed, if a status alone does not tell: EPI_GLU_FAILED, and
 * EPI_GLU_UNSUPPORTED because of the driver. Otherwise empty. */
const char* epi_glu_message(void);

/* Which implementation runs. */
typedef enum {
  EPI_GLU_AUTO = 0,        /* the fastest one for the number of rows */
  EPI_GLU_CUSTOM = 1,      /* the custom kernels */
  EPI_GLU_LIBRARY = 2,     /* cuBLASLt */
  EPI_GLU_LIBRARY_DOWN = 3 /* a custom kernel for gate and up, cuBLASLt for down */
} epi_glu_path;

/* Bytes for the intermediate results of a call with m rows, after epi_glu_prepare. Zero if m is
 * below 1. */
size_t epi_glu_workspace_bytes(const epi_glu* glu, int64_t m, epi_glu_path path);

typedef struct epi_glu_call {
  uint32_t struct_size; /* sizeof(epi_glu_call) */
  epi_glu_path path;
  struct CUstream_st* stream;
  int64_t m;
  const void* x;
  int64_t x_stride; /* elements from one row of x to the next, at least k */
  const void* gate;
  const void* up;
  const void* down;
  const void* gate_bias; /* null unless the block has it; likewise the others */
  const void* up_bias;
  const void* down_bias;
  void* y;
  void* workspace;
  size_t workspace_bytes;
} epi_glu_call;

/* Launches the block. Does not allocate or synchronize, so it can be captured into a CUDA graph. */
epi_glu_status epi_glu_run(const epi_glu* glu, const epi_glu_call* call);

#ifdef __cplusplus
}
#endif

#endif
