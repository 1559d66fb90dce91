// SPDX-License-Identifier: Apache-2.0
/* A custom kernel package: silu(gate) * up for floats, in C. docs/hub.md shows how to build, sign
 * and run it. */
#include <epilogue/kernel_abi.h>
#include <math.h>

struct rows {
  const DLTensor* gate;
  const DLTensor* up;
  const DLTensor* out;
};

/* Rows [begin, end), on one of the host's threads. */
static void run_rows(void* context, int64_t begin, int64_t end) {
  const struct rows* rows = context;
  const int64_t columns = rows->gate->shape[1];
  for (int64_t row = begin; row < end; ++row) {
    const float* gate = (const float*)rows->gate->data + row * rows->gate->strides[0];
    const float* up = (const float*)rows->up->data + row * rows->up->strides[0];
    float* out = (float*)rows->out->data + row * rows->out->strides[0];
    for (int64_t i = 0; i < columns; ++i) out[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
  }
}

/* Operands in the order of package.json. */
static int32_t silu_and_mul(const epi_kernel_call* call) {
  struct rows rows = {call->operands[0], call->operands[1], call->operands[2]};
  call->parallel_for(rows.gate->shape[0], 1, run_rows, &rows);
  return 0;
}

static const epi_kernel_entry kernels[] = {{"silu_and_mul", silu_and_mul}};
static const epi_kernel_api api = {sizeof(epi_kernel_api), EPI_KERNEL_ABI, 1, 0, kernels};

const epi_kernel_api* epi_kernel_get_api(uint32_t abi) {
  return abi == EPI_KERNEL_ABI ? &api : NULL;
}
