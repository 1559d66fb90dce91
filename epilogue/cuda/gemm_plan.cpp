// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/gemm_plan.h"

#include "epilogue/base/error.h"

namespace epi::cuda {
namespace {

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return CUDA_R_64F;
    case DType::kBF16:
      return CUDA_R_16BF;
    case DType::kF16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(const PlanKey& key) {
  if (key.dtype == DType::kF64) return CUBLAS_COMPUTE_64F;
  return key.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t epilogue_of(const PlanKey& key) {
  switch (key.activation) {
    case Activation::kRelu:
      return key.has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGeluTanh:
      return key.has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Activation::kNone:
      break;
  }
  return key.has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

template <typename T>
void set(cublasLtMatmulDescOpaque_t& desc, cublasLtMatmulDescAttributes_t attribute, T value) {
  check(cublaslt().desc_set(&desc, attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

// The operation on the column-major view of a row-major matrix, which is its transpose.
cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

void describe_gemm(GemmPlan& plan, const PlanKey& key) {
  const cudaDataType_t scale = key.dtype == DType::kF64 ? CUDA_R_64F : CUDA_R_32F;
  check(cublaslt().desc_init(&plan.desc, sizeof plan.desc, compute_type(key), scale),
        "cublasLtMatmulDescInit");
  set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSA, operation(key.b_transposed));
  set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSB, operation(key.a_transposed));
  set(plan.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(key));
}

struct Shape {
  int64_t rows;
  int64_t columns;
  int64_t ld;
  int64_t batch_stride;
};

void describe_matrix(cublasLtMatrixLayoutOpaque_t& layout, const PlanKey& key, const Shape& shape) {
  check(cublaslt().layout_init(&layout, sizeof layout, data_type(key.dtype),
                               static_cast<uint64_t>(shape.rows),
                               static_cast<uint64_t>(shape.columns), shape.ld),
        "cublasLtMatrixLayoutInit");
  const auto batch = static_cast<int32_t>(key.sizes[3]);
  if (batch == 1) return;
  check(cublaslt().layout_set(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
        "cublasLtMatrixLayoutSetAttribute");
  check(cublaslt().layout_set(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                              &shape.batch_stride, sizeof shape.batch_stride),
        "cublasLtMatrixLayoutSetAttribute");
}

void describe_matrices(GemmPlan& plan, const PlanKey& key) {
  const auto [m, n, k, batch] = key.sizes;
  const auto [ld_a, ld_b, ld_c, ld_out, stride_a, stride_b, stride_out] = key.strides;
  const bool at = key.a_transposed;
  const bool bt = key.b_transposed;
  describe_matrix(plan.b, key, {bt ? k : n, bt ? n : k, ld_b, stride_b});
  describe_matrix(plan.a, key, {at ? m : k, at ? k : m, ld_a, stride_a});
  describe_matrix(plan.c, key, {n, m, key.has_c ? ld_c : ld_out, stride_out});
  describe_matrix(plan.out, key, {n, m, ld_out, stride_out});
}

template <typename T>
void prefer(cublasLtMatmulPreferenceOpaque_t& preference,
            cublasLtMatmulPreferenceAttributes_t attribute, T value) {
  check(cublaslt().preference_set(&preference, attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
}

cublasLtMatmulPreferenceOpaque_t preference_of(const PlanKey& key) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  check(cublaslt().preference_init(&preference, sizeof preference), "cublasLtMatmulPreferenceInit");
  prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         static_cast<uint64_t>(kGemmWorkspaceBytes));
  // cuBLASLt's matrix A is our b.
  const auto [a, b, c, out] = key.alignments;
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t{b});
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t{a});
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, uint32_t{c});
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, uint32_t{out});
  // Split-K partial sums are added in f32, never in the 16-bit type of the output.
  prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_INPLACE |
                               CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  return preference;
}

}  // namespace

GemmPlan make_plan(const PlanKey& key) {
  GemmPlan plan;
  plan.handle = cublaslt_handle(key.device);
  describe_gemm(plan, key);
  describe_matrices(plan, key);
  cublasLtMatmulPreferenceOpaque_t preference = preference_of(key);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status =
      cublaslt().heuristic(plan.handle, &plan.desc, &plan.b, &plan.a, &plan.c, &plan.out,
                           &preference, 1, &result, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
    return plan;
  }
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  plan.algorithm = result.algo;
  plan.workspace_bytes = result.workspaceSize;
  plan.exists = true;
  return plan;
}

}  // namespace epi::cuda
