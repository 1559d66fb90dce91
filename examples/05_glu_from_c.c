// SPDX-License-Identifier: Apache-2.0
/* The SwiGLU block from C, in a program that manages its own memory and stream: captures the block
 * into a CUDA graph, launches it, and compares the result with the CPU. Skips without a Hopper GPU.
 */
#include <cuda_runtime_api.h>
#include <epilogue/glu.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 64, K = 32 };

static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float from_bf16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
  exit(1);
}

static void check_glu(epi_glu_status status, const char* call) {
  if (status == EPI_GLU_OK) return;
  fprintf(stderr, "%s: %s %s\n", call, epi_glu_status_text(status), epi_glu_message());
  exit(1);
}

/* `count` random numbers between -0.5 and 0.5, on the CPU and on the GPU. */
static uint16_t* random_matrix(int count, void** on_gpu) {
  uint16_t* values = malloc((size_t)count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = to_bf16((float)rand() / (float)RAND_MAX - 0.5f);
  check_cuda(cudaMalloc(on_gpu, (size_t)count * 2), "cudaMalloc");
  check_cuda(cudaMemcpy(*on_gpu, values, (size_t)count * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
  return values;
}

/* Dot product of row `i` of a [., k] and row `j` of b [., k]. */
static double dot(const uint16_t* a, int i, const uint16_t* b, int j, int k) {
  double sum = 0;
  for (int d = 0; d < k; ++d) sum += (double)from_bf16(a[i * k + d]) * from_bf16(b[j * k + d]);
  return sum;
}

int main(void) {
  const epi_glu_block block = {.struct_size = sizeof block,
                               .dtype = EPI_GLU_BF16,
                               .activation = EPI_GLU_SILU,
                               .k = K,
                               .n = N,
                               .out = K};
  epi_glu* glu = NULL;
  const epi_glu_status status = epi_glu_create(&block, &glu);
  if (status == EPI_GLU_UNSUPPORTED) {
    printf("skipped: %s\n", epi_glu_status_text(status));
    return 0;
  }
  check_glu(status, "epi_glu_create");
  check_glu(epi_glu_prepare(glu), "epi_glu_prepare");

  void *x_gpu, *gate_gpu, *up_gpu, *down_gpu, *y_gpu, *workspace;
  uint16_t* x = random_matrix(M * K, &x_gpu);
  uint16_t* gate = random_matrix(N * K, &gate_gpu);
  uint16_t* up = random_matrix(N * K, &up_gpu);
  uint16_t* down = random_matrix(K * N, &down_gpu);
  const size_t workspace_bytes = epi_glu_workspace_bytes(glu, M, EPI_GLU_AUTO);
  check_cuda(cudaMalloc(&y_gpu, M * K * 2), "cudaMalloc");
  check_cuda(cudaMalloc(&workspace, workspace_bytes), "cudaMalloc");

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  const epi_glu_call call = {.struct_size = sizeof call,
                             .stream = stream,
                             .m = M,
                             .x = x_gpu,
                             .x_stride = K,
                             .gate = gate_gpu,
                             .up = up_gpu,
                             .down = down_gpu,
                             .y = y_gpu,
                             .workspace = workspace,
                             .workspace_bytes = workspace_bytes};
  check_glu(epi_glu_run(glu, &call), "epi_glu_run");
  check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  check_cuda(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

  uint16_t y[M * K];
  check_cuda(cudaMemcpy(y, y_gpu, sizeof y, cudaMemcpyDeviceToHost), "cudaMemcpy");
  double error = 0, norm = 0;
  for (int i = 0; i < M; ++i) {
    double h[N];
    for (int j = 0; j < N; ++j) {
      const double g = dot(x, i, gate, j, K);
      h[j] = g / (1 + exp(-g)) * dot(x, i, up, j, K);
    }
    for (int j = 0; j < K; ++j) {
      double expected = 0;
      for (int d = 0; d < N; ++d) expected += h[d] * from_bf16(down[j * N + d]);
      error += pow(from_bf16(y[i * K + j]) - expected, 2);
      norm += expected * expected;
    }
  }
  const double relative = sqrt(error / norm);
  printf("SwiGLU of %d rows, %d to %d to %d: relative error %.1e\n", M, K, N, K, relative);

  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  epi_glu_destroy(glu);
  free(x);
  free(gate);
  free(up);
  free(down);
  return relative < 0.0078125 ? 0 : 1; /* h and y are rounded to 8 bits of mantissa */
}
