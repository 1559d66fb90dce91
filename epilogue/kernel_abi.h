// SPDX-License-Identifier: Apache-2.0
/* The interface of a kernel package that contains a library: the table of functions that the
 * library exports, and the arguments of a call. The only Epilogue header that a package includes. C
 * and C++, see docs/hub.md.
 *
 *   static int32_t add_one(const epi_kernel_call* call) { ... return 0; }
 *   static const epi_kernel_entry kernels[] = {{"add_one", add_one}};
 *   static const epi_kernel_api api = {sizeof(api), EPI_KERNEL_ABI, 1, 0, kernels};
 *   const epi_kernel_api* epi_kernel_get_api(uint32_t abi) {
 *     return abi == EPI_KERNEL_ABI ? &api : NULL;
 *   }
 *
 * Every structure starts with its size. Later versions of this ABI add members at the end, so check
 * the size before you read one. No exception and no C++ object may cross this boundary. */
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
  /* Inputs and outputs in the order of the manifest. Each is a matrix [rows, columns], with leading
   * dimensions merged into the rows and contiguous rows. Sizes, dtypes and alignment follow the
   * manifest. Strides are never null. */
  DLTensor* const* operands;
  /* The cudaStream_t for all work; NULL on the CPU. */
  void* stream;
  /* Calls `body` for parts of [0, count) on the threads of the process, and returns when all are
   * done. Every part but the last has at least `grain` elements. */
  void (*parallel_for)(int64_t count, int64_t grain, epi_range_body body, void* context);
  /* Receives a zero-terminated error message if the function does not return 0. */
  char* error;
  size_t error_bytes;
} epi_kernel_call;

/* Returns 0, or an error code that the package defines. Must be thread-safe. */
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

/* The only symbol that a library exports. Returns NULL if the library does not support this ABI.
 * The table must remain valid until the process exits. */
EPI_KERNEL_EXPORT const epi_kernel_api* epi_kernel_get_api(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
