// SPDX-License-Identifier: Apache-2.0
/* The feed-forward block y = down(act(x gate^T) * (x up^T)) on a Hopper GPU, for programs that have
 * their own memory and streams: two kernels, no copy of the weights. C and C++.
 *
 *   epi_glu* glu = NULL;
 *   epi_glu_create(0, EPI_GLU_BF16, EPI_GLU_SILU, &glu);
 *   epi_glu_prepare(glu, m, n, k);                   (generates code, once per size)
 *   epi_glu_mlp(glu, stream, x, gate, up, down, y, m, n, k, workspace, workspace_bytes);
 *   epi_glu_destroy(glu);
 *
 * x is [m, k], gate and up are [n, k], down is [k, n], y is [m, k]. All are row-major, with 16-bit
 * elements and addresses aligned to 16 bytes. n and k are multiples of 8. `epi_glu_mlp` does not
 * allocate or synchronize, so it can be captured into a CUDA graph. Destroy the graph before the
 * handle. Several threads may use one handle at the same time. Handles share only machine code.
 *
 * The kernels are fast for up to 64 rows, and from a few hundred rows on, when they fill the GPU.
 * In between, with a large n and a small k, a library with split-K is faster. */
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
typedef enum { EPI_GLU_GELU_TANH = 0, EPI_GLU_SILU = 1 } epi_glu_activation;

typedef enum {
  EPI_GLU_OK = 0,
  EPI_GLU_BAD_SIZE = 1,     /* m below 1; n or k below 8 or not a multiple of 8 */
  EPI_GLU_BAD_ADDRESS = 2,  /* null, or not aligned to 16 bytes */
  EPI_GLU_WORKSPACE = 3,    /* smaller than epi_glu_workspace_bytes */
  EPI_GLU_NOT_PREPARED = 4, /* epi_glu_prepare was not called with these sizes */
  EPI_GLU_UNSUPPORTED = 5,  /* no Hopper GPU, a build without CUDA, another dtype or activation */
  EPI_GLU_FAILED = 6        /* CUDA or the compiler: epi_glu_message of epi_glu_prepare's handle */
} epi_glu_status;

/* Describes a status. */
const char* epi_glu_status_text(epi_glu_status status);

epi_glu_status epi_glu_create(int device, epi_glu_dtype dtype, epi_glu_activation activation,
                              epi_glu** out);
void epi_glu_destroy(epi_glu* glu);

/* Loads code for these sizes from the disk cache, or compiles it with NVRTC: a few tenths of a
 * second for the first size of a kind, microseconds for others. Do not call it during a stream
 * capture, or while another thread calls epi_glu_message. */
epi_glu_status epi_glu_prepare(epi_glu* glu, int64_t m, int64_t n, int64_t k);
/* Why the last epi_glu_prepare with this handle failed. Empty if it succeeded. */
const char* epi_glu_message(const epi_glu* glu);

/* Bytes for the m x n result of the first kernel. Zero for invalid sizes. */
size_t epi_glu_workspace_bytes(int64_t m, int64_t n, int64_t k);

epi_glu_status epi_glu_mlp(const epi_glu* glu, struct CUstream_st* stream, const void* x,
                           const void* gate, const void* up, const void* down, void* y, int64_t m,
                           int64_t n, int64_t k, void* workspace, size_t workspace_bytes);

#ifdef __cplusplus
}
#endif

#endif
