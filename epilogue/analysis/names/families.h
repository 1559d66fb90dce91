// SPDX-License-Identifier: Apache-2.0
// One reader per family of names. Each returns whether the name belongs to its family, and fills in
// the fields that the name encodes.
#pragma once

#include <string_view>

#include "epilogue/analysis/names/cpp_name.h"
#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis::names {

// GEMMs whose names are words joined by underscores.
bool read_nvjet(std::string_view name, DecodedName& out);
bool read_xmma(std::string_view name, DecodedName& out);
bool read_cutlass_words(std::string_view name, DecodedName& out);
// "ampere_bf16_s16816gemm_...", also volta, turing, ...
bool read_generation(std::string_view name, DecodedName& out);
bool read_tensile(std::string_view name, DecodedName& out);

// "triton_poi_fused_...", "epi_poi_fused_...".
bool read_fused(std::string_view name, DecodedName& out);
// "epi_pkg_gelu_tanh_and_mul_bf16".
bool read_package(std::string_view name, DecodedName& out);
bool read_liger(std::string_view name, DecodedName& out);
// The kernels of Epilogue's CPU backend: "gemm_f32_tn_bias".
bool read_own_cpu(std::string_view name, DecodedName& out);
// The kernels of Epilogue's CUDA backend: "void epi::cuda::pointwise<epi::cuda::Relu<float>,
// 4>(...)".
bool read_own_cuda(std::string_view name, const CppName& cpp, DecodedName& out);

bool read_memcpy_or_memset(std::string_view name, DecodedName& out);
bool read_nccl(std::string_view name, DecodedName& out);
// fmha_cutlassF_...
bool read_fmha(std::string_view name, DecodedName& out);

// Convolutions and transposes of MIOpen: "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_...".
bool read_miopen(std::string_view name, DecodedName& out);
// "bmm_E4m3_E4m3E4m3_Fp32_t128x16x256u2_s5_...".
bool read_tensorrt_llm(std::string_view name, DecodedName& out);
// Triton's mixture-of-experts kernels: "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu".
bool read_triton_kernels(std::string_view name, DecodedName& out);

// C++ functions.
bool read_flash(std::string_view name, const CppName& cpp, DecodedName& out);
bool read_cudnn(std::string_view name, const CppName& cpp, DecodedName& out);
bool read_cutlass_cpp(std::string_view name, const CppName& cpp, DecodedName& out);
bool read_cublas_cpp(std::string_view name, const CppName& cpp, DecodedName& out);
bool read_aten(std::string_view name, const CppName& cpp, DecodedName& out);
bool is_cub(const CppName& cpp);
bool read_cub(std::string_view name, const CppName& cpp, DecodedName& out);
// Inference engines and other libraries, by namespace: "vllm::rms_norm_kernel".
bool read_scoped(std::string_view name, const CppName& cpp, DecodedName& out);
// Guesses the kind from plain words in a function's name: "rms_norm_kernel". Sets only the kind.
void read_plain_words(std::string_view base, DecodedName& out);

// Both lists are tried in order. Names of words joined by underscores, mostly recognized by the
// first word:
using WordFamily = bool (*)(std::string_view name, DecodedName& out);
inline constexpr WordFamily kWordFamilies[] = {
    read_nvjet,      read_package,       read_fused,         read_xmma,
    read_generation, read_cutlass_words, read_tensile,       read_memcpy_or_memset,
    read_nccl,       read_fmha,          read_liger,         read_own_cpu,
    read_miopen,     read_tensorrt_llm,  read_triton_kernels};
// C++ functions, by the whole name and its parsed parts:
using FunctionFamily = bool (*)(std::string_view name, const CppName& cpp, DecodedName& out);
inline constexpr FunctionFamily kFunctionFamilies[] = {
    read_aten, read_cutlass_cpp, read_flash,    read_cudnn,
    read_cub,  read_cublas_cpp,  read_own_cuda, read_scoped};

// Splits "_unsafe_view_gelu_mul" into ATen operators.
std::vector<std::string> split_fused_ops(std::string_view joined);
// The operator that a functor or kernel implements: "gelu" for "GeluCUDAKernelImpl".
std::string op_of_functor(std::string_view functor);

}  // namespace epi::analysis::names
