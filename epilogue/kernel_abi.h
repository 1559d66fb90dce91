// SPDX-License-Identifier: Apache-2.0
/* What a kernel package with a library includes, and all that it includes: the table of functions
 * that it hands out, and what each is called with. C and C++; see docs/hub.md.
 *
 *   static int32_t add_one(const epi_kernel_call* call) { ... return 0; }
 *   static const epi_kernel_entry kernels[] = {{"add_one", add_one}};
 *   static const epi_kernel_api api = {sizeof(api), EPI_KERNEL_ABI, 1, 0, kernels};
 *   const epi_kernel_api* epi_kernel_get_api(uint32_t abi) {
 *     return abi == EPI_KERNEL_ABI ? &api : NULL;
 *   }
 *
 * Structures begin with their size: a later version of this ABI adds members at the end, and who
 * reads one looks at its size first. No exception and no C++ object crosses this boundary. */
#ifndef EPILOGUE_KERNEL_ABI_H
#define EPILOGUE_KERNEL_ABI_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#define EPI_KERNEL_ABI 1u

#ifdef __cplusplus
#define EPI_KERNEL_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define EPI_KERNEL_EXPORT __attribute__((visibility("default")))
#endif

typedef void (*epi_range_body)(void* context, int64_t begin, int64_t end);

typedef struct epi_kernel_call {
  uint32_t struct_size;
  uint32_t operand_count;
  /* In the manifest's order, outputs among them. Each is a matrix [rows, columns] (leading sizes
   * are taken together), dense within a row, of the sizes, dtypes and alignment that the manifest
   * asks for; strides are never null. */
  DLTensor* const* operands;
  /* A cudaStream_t, on which all work goes; NULL on the CPU. */
  void* stream;
  /* Calls body over parts of [0, count), none but the last under `grain`, on the threads of the
   * process; returns when all are done. */
  void (*parallel_for)(int64_t count, int64_t grain, epi_range_body body, void* context);
  /* For one sentence, ended by a zero, where the function does not return 0. */
  char* error;
  size_t error_bytes;
} epi_kernel_call;

/* 0, or a code of the package's own. Any thread may call it, several at once. */
typedef int32_t (*epi_kernel_function)(const epi_kernel_call* call);

typedef struct epi_kernel_entry {
  const char* name;
  epi_kernel_function run;
} epi_kernel_entry;

typedef struct epi_kernel_api {
  uint32_t struct_size;
  uint32_t abi;
  uint32_t kernel_count;
  uint32_t reserved;
  const epi_kernel_entry* kernels;
} epi_kernel_api;

/* The one symbol that a library exports. NULL: it does not know this ABI. The table lives as long
 * as the process. */
EPI_KERNEL_EXPORT const epi_kernel_api* epi_kernel_get_api(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
