// SPDX-License-Identifier: Apache-2.0
// Names of kernels other than GEMMs from other GPUs, library versions and profilers, taken from
// public traces and sources. The expected decodings were written by hand from the names, not copied
// from the decoder.
#include <gtest/gtest.h>

#include "tests/analysis/described_kernel.h"

namespace epi::analysis {
namespace {

constexpr Row kComm[] = {
    {"ncclKernel_AllReduce_RING_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)",
     "nccl comm f16>?>f16 ops all_reduce"},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "nccl comm s8>?>s8 ops send_recv"},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "nccl comm ops all_gather"},
    {"ncclSymkDevKernel_ReduceScatter_LL_sum_f8e4m3",
     "nccl comm f8e4m3>?>f8e4m3 ops reduce_scatter"},
};

TEST(PublicKernelNames, DecodesCollectives) { expect_all(kComm); }

constexpr Row kAttention[] = {
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64, "
     "4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<128, 128, 64, 4, "
     "cutlass::bfloat16_t> >, false, false, false, false, true, true, false>(pytorch_flash::Flash_"
     "fwd_params)",
     "flash attention bf16>?>? 128x64x128 ops attention"},
    {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80",
     "cutlass attention sm80 bf16>?>? 64x128 ops attention"},
    {"fmha_cutlassB_f16_aligned_64x64_k64_sm70",
     "cutlass attention sm70 f16>?>? 64x64 ops attention_backward"},
    {"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_3_64x64x128_4x1x1_kernel0_0",
     "cudnn attention sm80 f16>?>? 64x64x128 +tc ops attention"},
    {"cudnn_generated_fort_native_sdpa_sm120_flash_fprop_f16_knob_3_64x64x128_4x1x1_cga1x1x1",
     "cudnn attention sm120 f16>?>? 64x64x128 cluster 1x1x1 ops attention"},
    {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_tr_1C11_"
     "args<float>)",
     "cudnn norm f32>?>?"},
    {"void tensorTransformGeneric<__nv_bfloat16, __nv_bfloat16, float, true, false, false, "
     "(cudnnKernelDataType_t)0>(cudnnTensorTransformStruct, tensorTransformParams, int, unsigned "
     "long, __nv_bfloat16 const*, __nv_bfloat16*, float, float)",
     "cudnn copy bf16>?>?"},
};

TEST(PublicKernelNames, DecodesAttentionAndCudnnNames) { expect_all(kAttention); }

constexpr Row kAten[] = {
    {"void at::native::vectorized_elementwise_kernel<4, "
     "at::native::BUnaryFunctor<at::native::AddFunctor<long> >, at::detail::Array<char*, 2> "
     ">(int, at::native::BUnaryFunctor<at::native::AddFunctor<long> >, at::detail::Array<char*, "
     "2>)",
     "aten pointwise s64>?>s64 by 4 ops add"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::MulScalarFunctor<float, "
     "float>, at::detail::Array<char*, 2> >(int, at::native::MulScalarFunctor<float, float>, "
     "at::detail::Array<char*, 2>)",
     "aten pointwise f32>f32>f32 by 4 ops mul"},
    {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, "
     "std::array<char *, (unsigned long)3>>(int, T2, T3)",
     "aten pointwise f32>?>f32 by 4 ops add"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::AUnaryFunctor<int, int, bool, "
     "at::native::(anonymous namespace)::CompareEqFunctor<int> >, at::detail::Array<char*, 2> "
     ">(int, at::native::AUnaryFunctor<int, int, bool, at::native::(anonymous "
     "namespace)::CompareEqFunctor<int> >, at::detail::Array<char*, 2>)",
     "aten pointwise s32>s32>bool by 2 ops eq"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::bfloat16_copy_kernel_"
     "cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, "
     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
     "std::array<char*, 2ul>)",
     "aten copy f32>?>bf16 by 2 ops copy"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_"
     "impl<at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_"
     "add<float> const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_"
     "impl<at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_"
     "add<float> const&)::{lambda(int)#1})",
     "aten pointwise ?>f32>? ops add"},
    {"void at::native::index_elementwise_kernel<128, 4, at::native::index_copy_kernel_"
     "impl<at::native::OpaqueType<4> >(at::TensorIterator&, long, long, "
     "long)::{lambda(int)#1}>(int, at::native::index_copy_kernel_impl<at::native::OpaqueType<4> "
     ">(at::TensorIterator&, long, long, long)::{lambda(int)#1})",
     "aten gather ops index_copy"},
    {"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
     "at::native::MeanOps<c10::BFloat16, float, float, c10::BFloat16>, unsigned int, "
     "c10::BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16, "
     "at::native::MeanOps<c10::BFloat16, float, float, c10::BFloat16>, unsigned int, "
     "c10::BFloat16, 4, 4>)",
     "aten reduction bf16>f32>bf16 by 4 ops mean"},
    {"void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 3, "
     "false, false>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)",
     "aten softmax bf16>f32>bf16 ops _softmax"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
     "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, "
     "float*, float*, c10::BFloat16*)",
     "aten norm bf16>f32>? ops native_layer_norm"},
};

TEST(PublicKernelNames, DecodesAtenFunctors) { expect_all(kAten); }

constexpr Row kAtenOthers[] = {
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, "
     "1>(float*, at::native::(anonymous namespace)::CatArrInputTensorMetadata<float, unsigned "
     "int, 128, 1>, at::native::(anonymous namespace)::TensorSizeStride<unsigned int, 4u>, int, "
     "unsigned int)",
     "aten copy f32>?>f32 ops cat"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<1>, at::native::(anonymous "
     "namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::plus<float>, "
     "float>(at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous "
     "namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::plus<float>, float)",
     "aten pointwise f32>?>? ops _foreach_add"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<1>, at::native::LpNormFunctor<float, "
     "(at::native::NormType)1, float, 1, 1, 0>, float*, int>(at::native::(anonymous "
     "namespace)::TensorListMetadata<1>, at::native::LpNormFunctor<float, "
     "(at::native::NormType)1, float, 1, 1, 0>, float*, int)",
     "aten reduction f32>?>? ops _foreach_norm"},
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, int, unsigned int, 1, "
     "1, -2, true>(at::cuda::detail::TensorInfo<float, unsigned int>, "
     "at::cuda::detail::TensorInfo<float, unsigned int>, at::cuda::detail::TensorInfo<int, "
     "unsigned int>, int, int, unsigned int, unsigned int, long)",
     "aten gather f32>?>?"},
    {"void at::native::(anonymous namespace)::krn_partials_per_segment<long>(long*, long const*, "
     "long const*, long)",
     "aten gather"},
    {"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned "
     "int, 1, 4, bool>(at::cuda::detail::TensorInfo<float, unsigned int>, "
     "at::cuda::detail::TensorInfo<float, unsigned int>, at::cuda::detail::TensorInfo<bool, "
     "unsigned int>, unsigned int, float, at::PhiloxCudaState)",
     "aten pointwise f32>f32>? by 4 ops native_dropout"},
    {"void at_cuda_detail::cub::DeviceScanInitKernel<at_cuda_detail::cub::ScanTileState<long, "
     "true> >(at_cuda_detail::cub::ScanTileState<long, true>, int)",
     "aten reduction"},
    {"void cub::DeviceRadixSortHistogramKernel<cub::DeviceRadixSortPolicy<long, int, "
     "int>::Policy800, false, long, int>(int*, long const*, int, int, int)",
     "cuda sort"},
    {"Memcpy HtoD (Pageable -> Device)", "cuda memcpy"},
};

TEST(PublicKernelNames, DecodesAtenOperatorsFromFunctionNames) { expect_all(kAtenOthers); }

constexpr Row kTriton[] = {
    {"triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0",
     "triton pointwise ops add,bitwise_and,bitwise_not,bitwise_or,ge,lt,mul,sub"},
    {"triton_red_fused__unsafe_view_add_addmm_mul_native_layer_norm_split_unsqueeze_19",
     "triton reduction ops _unsafe_view,add,addmm,mul,native_layer_norm,split,unsqueeze"},
    {"triton_per_fused__to_copy_abs_add_addmm_amax_div_empty_like_mean_mul_pow_rsqrt_sub_"
     "transpose_unsqueeze_view_zeros_33",
     "triton reduction ops _to_copy,abs,add,addmm,amax,div,empty_"
     "like,mean,mul,pow,rsqrt,sub,transpose,unsqueeze,view,zeros"},
    {"triton_tem_fused__to_copy_addmm_gelu_t_view_9", "triton gemm ops _to_copy,addmm,gelu,t,view"},
    {"triton_tem_fused_flex_attention_backward", "triton attention ops flex_attention_backward"},
    {"triton_for_fused_0", "triton pointwise"},
    {"triton__0d1d2d3d4d5d", "triton pointwise"},
    {"_swiglu_forward_kernel", "liger pointwise ops mul,silu"},
    {"liger_cross_entropy_kernel", "liger reduction ops cross_entropy"},
};

TEST(PublicKernelNames, DecodesTritonOperators) { expect_all(kTriton); }

constexpr Row kEngines[] = {
    {"void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, c10::BFloat16 const*, long, "
     "long, long, long, long, c10::BFloat16 const*, float, int, int)",
     "vllm norm bf16>?>?"},
    {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, "
     "c10::BFloat16*, c10::BFloat16 const*, int, long, long, long, int, int, int)",
     "vllm pointwise bf16>?>?"},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*, vllm::RankSignals, "
     "vllm::Signal*, __nv_bfloat16*, int, int)",
     "vllm comm bf16>?>?"},
    {"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, "
     "c10::BFloat16 const*, float, int, int)",
     "vllm norm bf16>?>?"},
    {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(int)",
     "vllm copy bf16>?>?"},
    {"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_"
     "S5_EEEEvPS3_PS4_i",
     "sglang pointwise"},
    {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0EEEvPT0_PT_", "aiter norm"},
    {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 8u, "
     "16u>(Params)",
     "flashinfer attention"},
    {"void flashinfer::norm::RMSNormKernel<8u, __half>(__half*, __half*)",
     "flashinfer norm f16>?>?"},
    {"void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int, int)", "fbgemm copy"},
    {"void permute_pooled_embs_kernel<float>(float const*, long const*)", "fbgemm copy f32>?>?"},
    {"void split_embedding_codegen_forward_unweighted_kernel<c10::Half, c10::Half, float>(int)",
     "fbgemm gather f16>?>?"},
    {"void marlin::Marlin<__nv_bfloat16, 256, 4, 16, 4, 4, false, 8>(int4 const*)",
     "marlin gemm bf16>?>?"},
    {"void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*, float*)", "deep_ep comm"},
    {"void tensorrt_llm::kernels::generalRmsNorm<__nv_bfloat16, float, false>(int)",
     "tensorrt_llm norm bf16>?>?"},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s5_et64x16_m64x16x32_cga1x1x1_16dp256b_TN_"
     "transOut_sm100f",
     "tensorrt_llm gemm sm100f f4e2m1>f32>f8e4m3 tn 128x16x256 stages 5 cluster 1x1x1"},
    {"sage_fwd", "sage_attention attention"},
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu",
     "triton gemm bf16>?>bf16 nn 16x128x256 swiglu -splitk"},
    {"fused_moe_kernel", "? gemm ops fused_moe"},
    {"MIOpenBatchNormFwdTrainSpatial", "miopen norm"},
    {"igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt64x64x64_wt16x16x16_ws1x1_wr2x2_ta1x8x2x1_1x8x1x32_"
     "tb1x8x2x1_1x8x1x32",
     "miopen conv bf16>?>? 64x64x64 ops convolution"},
    {"igemm_wrw_gtcx3_nhwc_fp16_bx0_ex1_bt128x64x32_wt32x32x8",
     "miopen conv f16>?>? 128x64x32 ops convolution_backward"},
};

TEST(PublicKernelNames, DecodesInferenceEngineKernels) { expect_all(kEngines); }

constexpr Row kCudnnHelpers[] = {
    {"void cudnn::fusion::convert_dq_to_16bits<1>(cudnn::fusion::Params)", "cudnn copy"},
    {"void cudnn::fusion::compute_dot_do_o<256, true>(cudnn::fusion::Params)",
     "cudnn attention ops attention"},
    {"void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int, int, float const*)",
     "cudnn conv f32>?>?"},
    {"void dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*)",
     "cudnn conv f32>?>?"},
    {"void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*, int)",
     "cudnn conv f32>?>?"},
};

TEST(PublicKernelNames, DecodesCudnnHelperKernels) { expect_all(kCudnnHelpers); }

// The label of a function from an unknown library.
TEST(PublicKernelNames, FunctionNameOmitsReturnType) {
  EXPECT_EQ(function_name("void (anonymous namespace)::clamp_position_kernel<long>(long*)"),
            "(anonymous namespace)::clamp_position_kernel");
  EXPECT_EQ(function_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int>(T)"),
            "internal::gemvx::kernel");
  EXPECT_EQ(function_name("my_kernel"), "my_kernel");
}

TEST(PublicKernelNames, DistinguishesTritonReductions) {
  EXPECT_EQ(decode_name("triton_red_fused_mean_pow_2").form, "looped reduction");
  EXPECT_EQ(decode_name("triton_per_fused_mean_pow_2").form, "persistent reduction");
  EXPECT_EQ(decode_name("triton_tem_fused_mm_1").form, "template");
  EXPECT_EQ(decode_name("triton_per_fused__scaled_dot_product_cudnn_attention_backward_add_3").ops,
            (std::vector<std::string>{"_scaled_dot_product_cudnn_attention_backward", "add"}));
}

constexpr Row kOurCuda[] = {
    {"void epi::cuda::pointwise<epi::cuda::GeluTanh<__nv_bfloat16>, 8>(epi::cuda::Walk, "
     "epi::cuda::GeluTanh<__nv_bfloat16>)",
     "epilogue pointwise bf16>?>bf16 by 8 ops gelu"},
    {"void epi::cuda::pointwise<epi::cuda::Mul<float>, 4>(epi::cuda::Walk, "
     "epi::cuda::Mul<float>)",
     "epilogue pointwise f32>?>f32 by 4 ops mul"},
    {"void epi::cuda::pointwise<epi::cuda::AddScalar<float>, 4>(epi::cuda::Walk)",
     "epilogue pointwise f32>?>f32 by 4 ops add"},
    {"void epi::cuda::pointwise_tiled<epi::cuda::Copy<unsigned short> >(epi::cuda::Walk, "
     "epi::cuda::Copy<unsigned short>, unsigned int, unsigned int, unsigned int)",
     "epilogue copy ops copy_"},
    {"void epi::cuda::pointwise<epi::cuda::Convert<float, __half>, 4>(epi::cuda::Walk)",
     "epilogue copy f32>?>f16 by 4 ops copy_"},
    {"void epi::cuda::rows<epi::cuda::Softmax, double, true, 2>(epi::cuda::Walk, long)",
     "epilogue softmax f64>?>f64 by 2 ops softmax"},
    {"void epi::cuda::rows<epi::cuda::RmsNorm, __half, false, 1>(epi::cuda::Walk, long)",
     "epilogue norm f16>?>f16 by 1 ops rms_norm"},
    {"void epi::cuda::reduce_rows<epi::cuda::Max<float>, 4>(epi::cuda::Reduction<float>)",
     "epilogue reduction f32>?>f32 by 4 ops amax"},
    {"void epi::cuda::rows<epi::cuda::SafeSoftmax, float, true, 4>(epi::cuda::Walk, long)",
     "epilogue softmax f32>?>f32 by 4 ops _safe_softmax"},
    {"void epi::cuda::causal_rows<epi::cuda::CausalSoftmax, __half>(epi::cuda::Walk, long)",
     "epilogue softmax f16>?>f16 ops causal_softmax"},
    {"void epi::cuda::rank_rows<epi::cuda::Topk<float>, float>(epi::cuda::Walk, long, long)",
     "epilogue sort f32>?>f32 ops topk"},
    {"void epi::cuda::read_by_index<epi::cuda::IndexSelect<unsigned int>, unsigned int, long, 4>"
     "(epi::cuda::Walk, long, long)",
     "epilogue gather by 4 ops index_select"},
    {"void epi::cuda::choose<epi::cuda::Where<unsigned short>, unsigned short, 8>"
     "(epi::cuda::BasicWalk<4>, epi::cuda::Where<unsigned short>)",
     "epilogue pointwise by 8 ops where"},
};

TEST(PublicKernelNames, DecodesOurCudaKernels) { expect_all(kOurCuda); }

constexpr Row kOurFused[] = {
    {"epi_tem_fused__unsafe_view_gelu_mm_mul_0", "epilogue gemm ops _unsafe_view,gelu,mm,mul"},
    {"epi_tem_fused_mm_mul_silu_0_stream", "epilogue gemm +tc ops mm,mul,silu"},
    {"epi_tem_fused_mm_1_stream", "epilogue gemm +tc ops mm"},
    {"epi_tem_fused_mm_mul_silu_0_decode", "epilogue gemm +tc ops mm,mul,silu"},
    {"epi_pkg_gelu_tanh_and_mul_bf16", "epilogue pointwise bf16>?>bf16 ops gelu,mul"},
    {"epi_pkg_silu_and_mul_f32_any", "epilogue pointwise f32>?>f32 by 1 ops silu,mul"},
    {"epi_poi_fused_gelu_mul_0_strided", "epilogue pointwise by 1 ops gelu,mul"},
};

TEST(PublicKernelNames, DecodesOurFusedKernels) { expect_all(kOurFused); }

constexpr Row kUnknown[] = {
    {"my_kernel(float*)", "?"},
    {"bwd_kernel_fuse", "?"},
    {"void create_pivot_v2<32>(int, int*, long*, int)", "?"},
};

TEST(PublicKernelNames, LeavesUnknownNamesUndecoded) { expect_all(kUnknown); }

// Inference engines, quantization and older compilers.
constexpr Row kOlderAndEngines[] = {
    {"void dpsk::ep::internode::dispatch<true, 8>(int)", "deep_ep comm"},
    {"per_token_cast_to_fp8_kernel", "? pointwise"},
    {"swiglu_forward_kernel", "? pointwise"},
    {"fused_rope_kernel", "? pointwise"},
    {"void upsample_bilinear2d_out_frame<float, float>(int)", "? gather"},
    {"triton__0d1d2d3d4", "triton pointwise"},
    {"_fwd_kernel_aligned_stage1", "sglang attention"},
    {"moe::dev::finalize::finalizeKernel<float>(int)", "tensorrt_llm reduction"},
    {"void moe::dev::routing::routingDeepSeek::routingIndicesClusterKernel<int>(int)",
     "tensorrt_llm sort"},
    {"fc-dtype_Float", "? gemm"},
    {"dma_request", "? copy"},
    {"void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>(dpsk::grouped_"
     "gemm::cuda::fp8_ptp128c::GemmKernel::Params)",
     "cutlass gemm"},
};

TEST(PublicKernelNames, DecodesEnginesAndOlderCompilers) { expect_all(kOlderAndEngines); }

}  // namespace
}  // namespace epi::analysis
