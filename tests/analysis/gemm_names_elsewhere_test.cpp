// SPDX-License-Identifier: Apache-2.0
// GEMM names of other GPUs, library versions and profilers, taken from public traces and sources.
// The expected decodings were written by hand from the names, not copied from the decoder.
#include <gtest/gtest.h>

#include "tests/analysis/described_kernel.h"

namespace epi::analysis {
namespace {

constexpr Row kNvjet[] = {
    {"nvjet_hss_64x8_64x16_1x1_v_bz_splitK_NNT",
     "cublas gemm f16>f32>f32 nn 64x8x64 stages 16 cluster 1x1 +splitk +tc"},
    {"nvjet_tst_64x24_64x16_4x1_v_bz_splitK_bias_TNT",
     "cublas gemm bf16>f32>bf16 tn 64x24x64 stages 16 cluster 4x1 bias +splitk +tc"},
    {"nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT",
     "cublas gemm sm100 f8e4m3>f32>bf16 tn 128x256x128 stages 6 cluster 2x1 bias -splitk +tc"},
    {"nvjet_sm100_qqsss_128x128_128x8_2x4_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT",
     "cublas gemm sm100 f8e4m3>f32>f32 tn 128x128x128 stages 8 cluster 2x4 -splitk +tc"},
    {"nvjet_sm103_tss_128x256_64x6_2x1_2cta_v_bz_NNT",
     "cublas gemm sm103 bf16>f32>f32 nn 128x256x64 stages 6 cluster 2x1 -splitk +tc"},
    {"nvjet_sm120_hss_mma_128x176x64_2_32x88x64_tmaAB_alignCD4_bz_NNNN",
     "cublas gemm sm120 f16>f32>f32 nn 128x176x64 stages 2 -splitk +tc"},
};

TEST(PublicKernelNames, DecodesNvjetNames) { expect_all(kNvjet); }

constexpr Row kGeneration[] = {
    {"ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x5_tn",
     "cublas gemm sm80 bf16>f32>bf16 tn 64x64x64 stages 5 relu +tc by 8"},
    {"ampere_s16816gemm_bf16_64x64_ldg8_stages_64x5_tn",
     "cublas gemm sm80 bf16>f32>f32 tn 64x64x64 stages 5 +tc by 8"},
    {"ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_stages_32x1_nn",
     "cublas gemm sm80 bf16>f32>bf16 nn 128x128x32 stages 1 +tc by 8"},
    {"turing_fp16_s1688gemm_fp16_128x64_sliced1x2_ldg8_f2f_tn",
     "cublas gemm sm75 f16>f32>f16 tn 128x64 +tc by 8"},
    {"volta_h884gemm_256x64_ldg8_tn", "cublas gemm sm70 f16>f16>f16 tn 256x64 +tc by 8"},
    {"maxwell_sgemm_128x128_tt_vec", "cublas gemm sm50 f32>f32>f32 tt 128x128 -tc"},
    {"cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1",
     "cudnn conv sm80 f32>f32>f32 128x64 relu -tc"},
    {"cudnn_train_volta_scudnn_128x128_stridedB_splitK_medium_nn_v1",
     "cudnn conv sm70 f32>f32>f32 128x128 +splitk -tc"},
    {"_5x_cudnn_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
     "cudnn conv sm70 f32>f32>f32 128x128 relu -tc by 4"},
};

TEST(PublicKernelNames, DecodesNamesWithGpuGeneration) { expect_all(kGeneration); }

constexpr Row kCutlass[] = {
    {"cutlass_75_tensorop_s1688gemm_bf16_64x64_tn_align1",
     "cutlass gemm sm75 bf16>f32>f32 tn 64x64 +tc align 1"},
    {"cutlass_75_tensorop_i8816gemm_s8_128x128_tn_align16",
     "cutlass gemm sm75 s8>s32>s32 tn 128x128 +tc align 16"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4>(cutlass_80_"
     "tensorop_s1688gemm_64x64_16x6_tn_align4::Params)",
     "cutlass gemm sm80 tf32>f32>f32 tn 64x64x16 stages 6 +tc align 4"},
    {"_ZN7cutlass7Kernel2I66cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_"
     "align8EEvNT_6ParamsE",
     "cutlass gemm sm80 f16>f32>f16 tn 256x128x32 stages 3 relu +tc align 8"},
    {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_"
     "nhwc_align8>(cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_"
     "align8::Params)",
     "cudnn conv bf16>f32>bf16 256x64x32 stages 4 +tc align 8"},
    {"cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_64x128x128_2x1x1_0_tnt_"
     "align16_warpspecialized_epi_nosmem",
     "cutlass gemm sm90 f8e4m3>f32>bf16 tn 64x128x128 cluster 2x1x1 +tc align 16"},
    {"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_32x32x16_1x1x1_3_tnn_align1_bias_f32_relu",
     "cutlass gemm sm100 f32>f32>f32 tn 32x32x16 stages 3 cluster 1x1x1 bias,relu -tc align 1"},
    {"cutlass3x_sm100_tensorop_s32x256x16_conv3d_fprop_weight_stationary_nq_2d_tiled_bf16_bf16_"
     "f32_void_bf16_void_t3xr3xs3_32x256x64_dyn_cga_ndhwc_ndhwc_ndhwc_1sm",
     "cutlass conv sm100 bf16>f32>bf16 32x256x64 +tc"},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int,int,int>, "
     "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<9"
     ", cute::tuple<cute::C<1>,cute::C<1>,cute::C<1> >, "
     "cutlass::gemm::KernelTmaWarpSpecializedPingpong>, "
     "cute::tuple<cute::C<128>,cute::C<64>,cute::C<64> >, cutlass::bfloat16_t, "
     "cute::TiledMMA<cute::MMA_Atom<cute::SM90::GMMA::MMA_64x64x16_F32BF16BF16_SS> >, cute::SM90_"
     "TMA_LOAD, cute::ComposedLayout<cute::Swizzle<3,4,3> > > > >",
     "cutlass gemm sm90 bf16>f32>? 128x64x64 stages 9 cluster 1x1x1 +tc"},
};

TEST(PublicKernelNames, DecodesCutlassNames) { expect_all(kCutlass); }

constexpr Row kXmma[] = {
    {"sm80_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize96x64x32_stage3_warpsize2x2x1_tensor16x8x16_"
     "kernel",
     "? gemm sm80 f16>f32>f16 nn 96x64x32 stages 3 +tc"},
    {"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x64x64_stage4_warpsize2x2x1_"
     "tensor16x8x32_algo2_execute_kernel__5x_cublas",
     "cublas gemm sm89 f8e4m3>f32>bf16 tn 128x64x64 stages 4 +tc"},
    {"sm89_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n_tilesize64x64x64_stage4_warpsize2x2x1_"
     "tensor16x8x32_bias_f32_execute_kernel_trt",
     "? gemm sm89 f8e4m3>f32>f8e4m3 tn 64x64x64 stages 4 bias +tc"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64_warpgroupsize2x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     "cublas gemm sm90 bf16>f32>bf16 tn 256x128x64 +tc"},
    {"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_cgasize1x2x1_stage4_gmmastage2_"
     "warpgroupsize1x1x1_tensor64x128x32",
     "? gemm sm90 f8e4m3>f32>bf16 tn 128x128x128 stages 4 cluster 1x2x1 +tc"},
    {"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_"
     "stage4_warpsize2x2x1_g1_tensor16x8x8_execute_split_k_kernel_cudnn_train",
     "cudnn conv sm80 tf32>f32>f32 128x128x16 stages 4 +splitk +tc"},
    {"sm86_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_stage3_"
     "warpsize1x4x1_g8_tensor16x8x16_t1r3s3_execute_kernel__5x_cudnn",
     "cudnn conv sm86 f16>f32>f16 64x64x64 stages 3 +tc"},
};

TEST(PublicKernelNames, DecodesXmmaNames) { expect_all(kXmma); }

constexpr Row kCublas[] = {
    {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_"
     "bfloat16, __nv_bfloat16, float, (bool)0, (bool)1, (bool)1, (bool)0, (int)7, (bool)0, "
     "cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<const __nv_bfloat16>, "
     "cublasGemvTensorStridedBatched<const __nv_bfloat16>, cublasGemvTensorStridedBatched<__nv_"
     "bfloat16>, float>>(T13)",
     "cublas gemv bf16>f32>bf16"},
    {"void gemvNSP_kernel<float, float, float, float, 1, 32, 4, 1024, "
     "cublasGemvParams<cublasGemvTensorStridedBatched<float const>, "
     "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float>, float> "
     ">(cublasGemvParams<cublasGemvTensorStridedBatched<float const>, "
     "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float>, float>)",
     "cublas gemv f32>f32>f32"},
    {"void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<__nv_bfloat16 "
     "const>, cublasGemvTensorStridedBatched<float> > "
     ">(cublasDotParams<cublasGemvTensorStridedBatched<__nv_bfloat16 const>, "
     "cublasGemvTensorStridedBatched<float> >)",
     "cublas reduction bf16>f32>f32"},
    {"void gemmSN_TN_kernel_64addr<float, 128, 16, 2, 4, 8, 9, false, "
     "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float> "
     ">(cublasGemmSmallNParams<cublasGemvTensorStridedBatched<float const>, "
     "cublasGemvTensorStridedBatched<float>, float>)",
     "cublas gemm f32>?>f32 tn"},
    {"void gemmk1_kernel<int, float, 256, 5, false, false, false, false, "
     "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float const>, "
     "cublasGemvTensorStridedBatched<float>, float, 0>(cublasGemmk1Params<float, "
     "cublasGemvTensorStridedBatched<float const>, cublasGemvTensorStridedBatched<float const>, "
     "cublasGemvTensorStridedBatched<float>, float, "
     "biasType<cublasGemvTensorStridedBatched<float>::value_type, float>::type>)",
     "cublas gemm f32>?>f32"},
    {"void splitKreduce_kernel<float, float, float>(cublasSplitKParams<float>, float const*, "
     "float const*, float*, float const*, float const*)",
     "cublas splitk_reduce f32>f32>f32"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16, __nv_bfloat16, float, __nv_"
     "bfloat16, true, true, false>(cublasLt::cublasSplitKParams<float>, __nv_bfloat16 const*, __"
     "nv_bfloat16 const*, __nv_bfloat16*, float const*, float const*, __nv_bfloat16 const*, __nv_"
     "bfloat16 const*, __nv_bfloat16*, void*, long, float*, int*)",
     "cublas splitk_reduce bf16>f32>bf16"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, false, __half, __"
     "half, __half, true, false, false>(cublasLt::cublasSplitKParams<float>, float const*, __half "
     "const*, __half*, __half*, float const*, float const*, __half const*, float const*, __half*, "
     "void*, long, float*, int*, float*, float const*, float const*, float const*, float const*)",
     "cublas splitk_reduce f32>f32>f16"},
    {"void epilogue::impl::globalKernel<float, float, float, true, true>(int, int, long, float*, "
     "cublasLtEpilogue_t, int, float*, long, void*, long, long, long, float*, long, int*)",
     "cublas epilogue f32>f32>f32"},
};

TEST(PublicKernelNames, DecodesCublasTemplateNames) { expect_all(kCublas); }

constexpr Row kTensile[] = {
    {"Cijk_Alik_Bljk_HHS_BH_MT16x256x16_MI16x16x4x4_SN_K1_MIWT1_1",
     "rocblas gemm f16>f32>f16 tn 16x256x16 +tc"},
    {"Custom_Cijk_Alik_Bljk_HHS_BH_UserArgs_MT128x16x128_MI16x16x1_SN_K1_MIWT2_1_triple_buffer",
     "rocblas gemm f16>f32>f16 tn 128x16x128 +tc"},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1_GRPM1_GSU1_"
     "ISA950_K1_WG32_8_1",
     "rocblas gemm gfx950 bf16>f32>bf16 tn 128x128x64 -splitk +tc"},
    {"Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1_ASEM1_"
     "CLR1_CADS0_EPS0_GRVWA1_GRVWB1_GSUAMB_ISA90a_IU1_K1_LBSPPA0_LBSPPB0_LBSPPM0_LPA0_LPB0_LPM0_"
     "LRVW1_LWPMn1_MIAV0_MIWT1_1_MO40_NTn1_NTA0_NTB0_NTC0_NTD0_NTM0_NEPBS2_NLCA1_NLCB1_ONLL1_PGR2_"
     "PLR1_PKA1_SIA3_SS1_SPO1_SRVW0_SSO0_SVW1_TLDS0_USFGROn1_VSn1_VWA1_VWB1_WSGRA0_WSGRB0_WS64_"
     "WG64_4_1",
     "rocblas gemm gfx90a f32>f32>f32 nt 64x16x16 +tc"},
    {"Cijk_Ailk_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x32_MI16x16x1_SN_LDSB0_AFC1_AFEM1_"
     "AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA1_GRVWB4_GSUAMB_GLS0_ISA942_IU1_K1_"
     "LBSPPA128_LBSPPB128_LBSPPM0_LPA16_LPB4_LPM0_LRVW4_LWPMn1_MIAV0_MIWT1_1_MO40_NTn1_NTA4_NTB4_"
     "NTC0_NTD0_NTM0_NEPBS0_NLCA1_NLCB1_ONLL1_PGR2_PLR1_PKA1_SIA3_SS0_SPO0_SRVW0_SSO0_SVW4_SK0_"
     "SKXCCM0_TLDS1_ULSGRO0_USL1_UIOFGRO0_USFGROn1_VSn1_VWA1_VWB1_WSGRA0_WSGRB0_WS64_WG16_4_1",
     "rocblas gemm gfx942 bf16>f32>bf16 nn 16x16x32 +tc"},
};

TEST(PublicKernelNames, DecodesTensileNames) { expect_all(kTensile); }

}  // namespace
}  // namespace epi::analysis
