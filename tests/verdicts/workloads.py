#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that look like training and serving steps, with amounts of time that are chosen per class."""

from contextlib import contextmanager

from kineto import AMD
from simulator import (ALLOCATION, COMMUNICATION, COMPILATION, COPIES, DISPATCH, GPU, ITEM, LOADING, PAGEABLE, PROGRAM,
                       STARTUP, Program, Range, Work)

US, MS = 1000, 1000000


def elementwise(functor, arrays=3, width=4):
    return (f"void at::native::vectorized_elementwise_kernel<{width}, {functor}, std::array<char*, {arrays}ul> >"
            f"(int, {functor}, std::array<char*, {arrays}ul>)")


MUL = "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >"
LAYER_NORM = ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>"
              "(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)")
KERNELS = {
    "add": elementwise("at::native::CUDAFunctor_add<c10::BFloat16>", width=8),
    "mul": elementwise(MUL), "fill": elementwise("at::native::FillFunctor<float>", 1),
    "pow": elementwise("at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, float>"
                       "(at::TensorIteratorBase&, float)::{lambda(float)#1}", 2),
    "rsqrt": elementwise("at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::"
                         "{lambda()#2}::operator()() const::{lambda(float)#1}", 2),
    "gelu": elementwise("at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::"
                        "operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}", 2, 8),
    "silu": elementwise("at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::"
                        "operator()() const::{lambda()#7}::operator()() const::{lambda(c10::BFloat16)#1}", 2, 8),
    "relu": elementwise("at::native::(anonymous namespace)::clamp_min_scalar_kernel_impl(at::TensorIteratorBase&, "
                        "c10::Scalar)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}", 2),
    "threshold": elementwise("at::native::(anonymous namespace)::threshold_kernel_impl<float>(at::TensorIteratorBase&, "
                             "float, float)::{lambda(float, float)#1}"),
    "copy": ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
             "{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>, 4, "
             "TrivialOffsetCalculator<1, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, "
             "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >"),
    "mean": ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
             "float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, "
             "unsigned int, float, 4, 4>)"),
    "cat": ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, "
            "unsigned int, 4, 64, 64>"),
    "layer_norm": LAYER_NORM,
    "layer_norm_backward": ("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, "
                            "float, false>"),
    "softmax": ("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, "
                "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>"),
    "embedding": "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)",
    "foreach": ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
                "TensorListMetadata<4>, at::native::(anonymous namespace)::PointwiseOpListFunctor<float, 4, 4, 0>, "
                "std::multiplies<float>, float>"),
    "fused_adam": ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
                   "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
                   "(at::native::ADAM_MODE)1, false> >"),
    "bn": "void cudnn::bn_fw_tr_1C11_singleread<__nv_bfloat16, 512, true, 1, 2, 0>(cudnnTensorStruct, __nv_bfloat16 const*)",
    "bn_backward": "void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_bw_1C11_args<float>)",
    "rms_norm": ("void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, "
                 "c10::BFloat16 const*, float, int, int)"),
    "rope": "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*)",
    "silu_and_mul": "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>), true>",
    "paged_attention": "kernel_unified_attention_2d",
    "triton_norm": "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0",
    "triton_act": "triton_poi_fused_mul_silu_1", "triton_add": "triton_poi_fused_add_view_2",
    "triton_backward": "triton_per_fused__to_copy_add_mul_native_layer_norm_backward_sum_3",
}
BY_GENERATION = {
    "hopper": {"gemm": ["nvjet_tst_192x192_64x3_2x1_v_bz_TNT", "nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NTN",
                        "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT",
                        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"],
               "conv": ["sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn"],
               "attention": ["void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t> >"],
               "attention_backward": ["void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, cutlass::bfloat16_t> >"]},
    "ampere": {"gemm": ["ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
                        "ampere_bf16_s16816gemm_bf16_256x128_ldg8_relu_f2f_stages_64x3_nn",
                        "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8::Params)"],
               "conv": ["sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn"],
               "attention": ["void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >"],
               "attention_backward": ["void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t> >"]},
    "volta": {"gemm": ["volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", "volta_sgemm_128x64_tn"],
              "conv": ["volta_scudnn_128x64_relu_medium_nn_v1", "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"],
              "attention": ["fmha_cutlassF_f16_aligned_64x64_rf_sm70(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t, cutlass::arch::Sm70, true, 64, 64, 64, true, true>::Params)"],
              "attention_backward": ["fmha_cutlassB_f16_aligned_64x64_k64_sm70(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::arch::Sm70, cutlass::half_t, true, false, false, 64, 64, 64>::Params)"]},
    "cdna": {"gemm": ["Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_WG32_8_1",
                      "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_WG16_16_1"],
             "conv": ["igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x32_wt32x32x8_ws1x1_wr2x2"],
             "attention": ["attn_fwd"], "attention_backward": ["bwd_kernel_dk_dv"]},
}
BY_GENERATION["blackwell"] = dict(BY_GENERATION["hopper"], gemm=["nvjet_sm100_tst_256x152_64x4_2x1_2cta_h_bz_TNT",
                                                                  "nvjet_tst_128x128_64x6_2x1_v_bz_NNT"])
NCCL = ["ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"]
RCCL = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter"]

# operators from the outermost, kernel, relative duration of the kernel
LINEAR = ("aten::linear", "aten::addmm")
TRANSFORMER = [
    (("aten::layer_norm", "aten::native_layer_norm"), "layer_norm", 0.5), (LINEAR, "gemm", 2.4),
    (("aten::scaled_dot_product_attention", "aten::_flash_attention_forward"), "attention", 2.0),
    (LINEAR, "gemm", 1.0), (("aten::add",), "add", 0.5),
    (("aten::layer_norm", "aten::native_layer_norm"), "layer_norm", 0.5), (LINEAR, "gemm", 2.6),
    (("aten::gelu",), "gelu", 0.7), (LINEAR, "gemm", 2.6), (("aten::add",), "add", 0.5)]
LLAMA = [
    (("aten::pow",), "pow", 0.5), (("aten::mean",), "mean", 0.5), (("aten::rsqrt",), "rsqrt", 0.2),
    (("aten::mul",), "mul", 0.6), (("aten::to", "aten::copy_"), "copy", 0.5),
    (("aten::linear", "aten::matmul", "aten::mm"), "gemm", 2.2), (("aten::cat",), "cat", 0.5), (("aten::mul",), "mul", 0.5),
    (("aten::scaled_dot_product_attention", "aten::_flash_attention_forward"), "attention", 2.0),
    (("aten::linear", "aten::matmul", "aten::mm"), "gemm", 1.4), (("aten::add",), "add", 0.5),
    (("aten::linear", "aten::matmul", "aten::mm"), "gemm", 2.6), (("aten::silu",), "silu", 0.6),
    (("aten::mul",), "mul", 0.6), (("aten::linear", "aten::matmul", "aten::mm"), "gemm", 2.6), (("aten::add",), "add", 0.5)]
RESNET = [
    (("aten::conv2d", "aten::cudnn_convolution"), "conv", 2.6), (("aten::batch_norm", "aten::cudnn_batch_norm"), "bn", 0.8),
    (("aten::relu_", "aten::clamp_min_"), "relu", 0.5), (("aten::conv2d", "aten::cudnn_convolution"), "conv", 3.0),
    (("aten::batch_norm", "aten::cudnn_batch_norm"), "bn", 0.8), (("aten::add_",), "add", 0.5),
    (("aten::relu_", "aten::clamp_min_"), "relu", 0.5)]
COMPILED = [
    (("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0",), "triton_norm", 0.7), (("aten::mm",), "gemm", 2.2),
    (("aten::_scaled_dot_product_flash_attention", "aten::_flash_attention_forward"), "attention", 1.8),
    (("aten::mm",), "gemm", 1.6), (("triton_poi_fused_add_view_2",), "triton_add", 0.5), (("aten::mm",), "gemm", 2.4),
    (("triton_poi_fused_mul_silu_1",), "triton_act", 0.7), (("aten::mm",), "gemm", 2.4)]
DECODE = [
    (("_C::fused_add_rms_norm",), "rms_norm", 0.6), (("aten::linear", "aten::mm"), "gemm", 1.6),
    (("_C::rotary_embedding",), "rope", 0.5), (("vllm::unified_attention",), "paged_attention", 1.4),
    (("aten::linear", "aten::mm"), "gemm", 1.4), (("_C::fused_add_rms_norm",), "rms_norm", 0.6),
    (("aten::linear", "aten::mm"), "gemm", 1.8), (("_C::silu_and_mul",), "silu_and_mul", 0.6),
    (("aten::linear", "aten::mm"), "gemm", 1.6)]


def _node(name, inner, kernel, weight):
    return ((f"autograd::engine::evaluate_function: {name}", name, inner), kernel, weight)


TRANSFORMER_BACKWARD = [
    _node("AddBackward0", "aten::add", "add", 0.5), _node("AddmmBackward0", "aten::mm", "gemm", 2.6),
    _node("AddmmBackward0", "aten::mm", "gemm", 2.6), _node("GeluBackward0", "aten::gelu_backward", "gelu", 0.8),
    _node("AddmmBackward0", "aten::mm", "gemm", 2.4), _node("NativeLayerNormBackward0", "aten::native_layer_norm_backward",
                                                            "layer_norm_backward", 0.8),
    _node("ScaledDotProductFlashAttentionBackward0", "aten::_flash_attention_backward", "attention_backward", 2.8),
    _node("torch::autograd::AccumulateGrad", "aten::add_", "add", 0.4)]
RESNET_BACKWARD = [
    _node("ReluBackward0", "aten::threshold_backward", "threshold", 0.5),
    _node("CudnnBatchNormBackward0", "aten::cudnn_batch_norm_backward", "bn_backward", 1.0),
    _node("ConvolutionBackward0", "aten::convolution_backward", "conv", 3.0),
    _node("torch::autograd::AccumulateGrad", "aten::add_", "add", 0.4)]
OPTIMIZER = [(("aten::_foreach_addcdiv_",), "foreach", 1.0), (("aten::_foreach_mul_",), "foreach", 0.8),
             (("aten::_foreach_lerp_",), "foreach", 0.8), (("aten::_fused_adamw_",), "fused_adam", 1.5)]
MODELS = {  # forward, backward (None: inference), module
    "transformer": (TRANSFORMER, TRANSFORMER_BACKWARD, "TransformerEncoderLayer"), "llama": (LLAMA, TRANSFORMER_BACKWARD,
                                                                                            "LlamaDecoderLayer"),
    "resnet": (RESNET, RESNET_BACKWARD, "Bottleneck"), "compiled": (COMPILED, None, "OptimizedModule"),
    "decode": (DECODE, None, "Qwen3DecoderLayer"), "vit": (TRANSFORMER, None, "ViTLayer")}
MIOPEN = {"aten::cudnn_convolution": "aten::miopen_convolution", "aten::cudnn_batch_norm": "aten::miopen_batch_norm",
          "aten::cudnn_batch_norm_backward": "aten::miopen_batch_norm_backward",
          "CudnnBatchNormBackward0": "MiopenBatchNormBackward0"}

PROGRAM_NAMES = ["tokenize_batch", "preprocess", "postprocess", "compute_metrics", "schedule_requests", "augment_on_cpu"]
PROGRAM_OPS = ["aten::sort", "aten::unique_dim", "aten::cumsum", "aten::bincount", "aten::nonzero", "aten::_unique2"]
PROGRAM_FRAMES = ["preprocess.py(41): normalize", "transformers/tokenization_utils_base.py(2855): __call__",
                  "metrics.py(88): update", "torchvision/transforms/functional.py(362): resize"]
COMPILE_RANGES = ["_compile.compile_inner (dynamo_timed)", "OutputGraph.call_user_compiler (dynamo_timed)",
                  "compile_fx.<locals>.fw_compiler_base (dynamo_timed)", "GraphLowering.run (dynamo_timed)",
                  "Scheduler.codegen (dynamo_timed)", "async_compile.wait (dynamo_timed)"]


class Plan:
    """Amounts of one step, in microseconds, and where they go.

    dispatch, gpu: total of the operators and of the kernels. start, middle, end, after: lists of (class, microseconds)
    of host work before the first kernel, between forward and backward, before the last synchronization, and after it.
    """

    def __init__(self, model, kernels, dispatch, gpu):
        self.model, self.kernels, self.dispatch, self.gpu = model, kernels, dispatch, gpu
        self.start, self.middle, self.end, self.after = [], [], [], []
        self.pageable = 0  # pageable copy before the forward pass
        self.exposed_communication = 0  # collective that the optimizer waits for
        self.buckets = 0  # collectives beside the backward pass, in all
        self.side_copies = 0  # copies on their own stream, in all
        self.chain = None  # (COPIES or COMMUNICATION, total): after each few kernels, on the path of the device
        self.graphs = 0  # launch the kernels as so many graphs
        self.tail_burst = 0.0  # part of the GPU time in long kernels that are launched last
        self.phases = None  # (host amounts, device amounts): phases, each with a synchronization after it
        self.sync = "item"  # last call of the step: "item", "device", "event", "event_before" or None
        self.items_before_sync = 0  # .item() calls just before it
        self.pageable_item = False  # the wait of .item() is in its copy call
        self.spread_allocation = 0  # allocations between the operators
        self.program_kind = "annotation"
        self.loader = "single"
        self.lazy_loading = False
        self.annotate = False
        self.extra = {}  # step: list of (class, microseconds) at its start


class Workload:
    """Builds a program from a plan."""

    def __init__(self, rng, style, steps, plan, busy_before=0, hidden=0, first_step=2):
        self.rng, self.style, self.plan = rng, style, plan
        self.amd = style.vendor == AMD
        self.unit = US if style.integer_us else 1
        pid = rng.randrange(300, 90000)
        self.p = Program(pid, latency=self.q(3 * US, 0), sync_tail=self.q(4 * US, 0), busy_before=self.q(busy_before, 0))
        self.autograd = pid + rng.randrange(20, 140)
        self.compute, self.copy_stream, self.nccl = (0, 1, 3) if self.amd else (7, rng.choice((13, 17, 21)),
                                                                                rng.choice((20, 24, 28, 40)))
        self.p.stream(self.compute)
        self.sequence = rng.randrange(300, 9000)
        self.forward_numbers = []
        self.names = BY_GENERATION[style.generation]
        self.previous_event = None
        self.modules = {}
        self.hidden = []
        root = ["train.py(201): <module>", "train.py(146): main"] if MODELS[plan.model][1] else \
            ["serve.py(88): <module>", "engine.py(310): run_loop"]
        self.p.host(self.q(40 * US))
        for _ in range(6 if hidden else 0):  # work whose calls lie before the recording
            self.hidden.append(self.p.launch("cudaLaunchKernel", 0, self.work(hidden / 6), latency=0))
        with self.frame(root[0]), self.frame(root[1]):
            for i in range(steps):
                self.p.host(self.q(12 * US))
                self.p.step_begin(f"ProfilerStep#{first_step + i}")
                self.step(i)
                self.p.step_end()
            self.p.host(self.q(30 * US))
        self.p.host(self.q(20 * US))
        self.p.sync("hipDeviceSynchronize" if self.amd else "cudaDeviceSynchronize", self.q(12 * US))

    # helpers
    def q(self, ns, noise=0.05):
        """A duration with noise, as a whole number of units, at least one."""
        if ns <= 0:
            return 0
        if noise:
            ns *= 1 + self.rng.uniform(-noise, noise)
        return max(self.unit, int(round(ns / self.unit)) * self.unit)

    @contextmanager
    def frame(self, name):
        if self.style.stack:
            self.p.begin(name, "python_function")
        yield
        if self.style.stack:
            self.p.end()

    @contextmanager
    def annotation(self, name, wanted=True):
        if wanted:
            self.p.begin(name, "user_annotation")
        yield
        if wanted:
            self.p.end()

    def api(self, kernel):
        if self.amd:
            if kernel in ("gemm", "conv"):
                return "hipExtModuleLaunchKernel", "cuda_runtime"
            return ("hipModuleLaunchKernel" if kernel.startswith(("triton", "paged", "attention")) else "hipLaunchKernel",
                    "cuda_runtime")
        if kernel.startswith(("triton", "paged")):
            return "cuLaunchKernel", "cuda_driver"
        if kernel == "gemm" and self.style.generation in ("hopper", "blackwell"):
            return ("cuLaunchKernelEx", "cuda_driver") if self.sequence % 3 else ("cudaLaunchKernelExC", "cuda_runtime")
        return "cudaLaunchKernel", "cuda_runtime"

    def kernel(self, key, index=0):
        names = self.names.get(key)
        return names[index % len(names)] if names else KERNELS[key]

    def work(self, dur, key="gemm", stream=None, index=0):
        return Work(self.compute if stream is None else stream, self.q(max(dur, 0.8 * US)), GPU, self.kernel(key, index),
                    gap=self.q(1 * US, 0.3))

    # operators
    def shapes(self, name, key, dur):
        """Shapes for which the kernel's duration is plausible."""
        if not self.style.shapes or name.startswith(("triton", "Memcpy")):
            return None
        flops = dur * 0.45 * self.style.tflops * 1e3
        if key == "gemm":
            n = k = 4096 if dur > 40 * US else 1024
            m = max(1, int(flops / (2 * n * k)))
            dims = [[m, k], [k, n]] if name != "aten::addmm" else [[n], [m, k], [k, n]]
        elif key == "conv":
            batch = max(1, int(flops / (2 * 28 * 28 * 128 * 128 * 9)))
            dims = [[batch, 128, 28, 28], [128, 128, 3, 3]]
            if name == "aten::convolution_backward":
                dims = [dims[0], dims[0], dims[1]]
        elif key.startswith("attention"):
            length = 1024 if dur > 40 * US else 256
            batch = max(1, int(flops / (4 * 16 * length * length * 64)))
            dims = [[batch, length, 16, 64]] * 3
        else:
            rows = max(1, int(dur * 0.6 * self.style.bandwidth / 6 / 1024))
            dims = [[rows, 1024], [rows, 1024]]
        return {"Input Dims": dims, "Input type": ["c10::BFloat16"] * len(dims), "Concrete Inputs": [""] * len(dims)}

    def op(self, names, key, host, gpu, backward=False):
        """One operator with one launch. host, gpu: nanoseconds in all."""
        host, rng = self.q(host), self.rng
        call = min(self.q(host * 0.28, 0), self.q(6 * US))
        gap = self.q(host * (0.06 if backward else 0.2), 0)
        rest = max(self.unit * (2 + len(names)), host - call - gap)
        before = self.q(rest * 0.62, 0)
        after = max(self.unit, rest - before)
        args = self.shapes(names[-1], key, gpu)
        if self.amd:
            names = [MIOPEN.get(n, n) for n in names]
        numbered = None
        if backward or MODELS[self.plan.model][1]:
            if not backward:
                self.sequence += 1
                self.forward_numbers.append(self.sequence)
                numbered = {"Sequence number": self.sequence, "Fwd thread id": 0}
            elif self.forward_numbers:
                numbered = {"Sequence number": self.forward_numbers.pop(), "Fwd thread id": 1}
        part = self.q(before / (len(names) + 1), 0)
        for i, name in enumerate(names):
            extra = {}
            if numbered and "AccumulateGrad" not in name and (i == 0 or backward and i < 2):
                extra.update(numbered)
            if args and i == len(names) - 1:
                extra.update(args)
            self.p.begin(name, "cpu_op", extra or None)
            if i < len(names) - 1:
                self.p.host(part)
                before -= part
        self.p.host(max(self.unit, before))
        api, cat = self.api(key)
        self.p.launch(api, call, self.work(gpu, key, index=rng.randrange(8) if rng.random() < 0.1 else len(names)),
                      cat=cat, latency=self.q(3 * US, 0.2))
        share = self.q(after / len(names), 0)
        for _ in names:
            self.p.host(share)
            self.p.end()
        self.p.host(gap)

    def ops(self, templates, count, host, gpu, backward=False, each=None):
        """count operators from the templates in turn. host, gpu: totals. each: called after every operator."""
        if not count:
            return
        weights = [templates[i % len(templates)][2] for i in range(count)]
        scale = gpu / sum(weights)
        module = MODELS[self.plan.model][2]
        for i in range(count):
            names, key, weight = templates[i % len(templates)]
            first = i % len(templates) == 0
            if first and not backward and self.style.stack:
                k = self.modules[module] = self.modules.get(module, -1) + 1
                self.p.begin(f"nn.Module: {module}_{k % 24}", "python_function")
                self.p.begin(f"models/{self.plan.model}.py({90 + len(templates)}): forward", "python_function")
            self.op(names, key, host / count, weight * scale, backward)
            if not backward and self.style.stack and (i % len(templates) == len(templates) - 1 or i == count - 1):
                self.p.end()
                self.p.end()
            if each:
                each(i)

    # host classes
    def host_work(self, cls, amount):
        """amount: nanoseconds."""
        {LOADING: self.load, PROGRAM: self.program, ALLOCATION: self.allocate, STARTUP: self.start_up,
         COMPILATION: self.compile, DISPATCH: self.small_ops}[cls](amount)

    def small_ops(self, amount):
        """Operators with tiny kernels."""
        n = max(1, int(amount / (22 * US)))
        self.ops([(("aten::mul",), "mul", 1.0), (("aten::add",), "add", 1.0)], n, amount, n * 1.2 * US)

    def load(self, amount):
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" if self.plan.loader == "single" else \
            "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        with self.frame("torch/utils/data/dataloader.py(725): __next__"):
            if self.plan.loader == "single" and amount > 2 * MS:
                self.p.begin(name, "user_annotation")
                with self.frame("torch/utils/data/_utils/fetch.py(50): fetch"):
                    n = min(24, max(4, int(amount / MS)))
                    for i in range(n):
                        self.p.host(self.q(amount * 0.7 / n), LOADING)
                        self.p.host(self.q(amount * 0.3 / n), LOADING,
                                    ("aten::select", "aten::permute", "aten::div", "aten::stack")[i % 4])
                self.p.end()
            else:
                self.p.host(self.q(amount), LOADING, name, "user_annotation")

    def program(self, amount):
        """Host work in pieces of 1.5 ms and more."""
        pieces = max(1, min(6, int(amount / (2.5 * MS))))
        kind = self.plan.program_kind
        for i in range(pieces):
            part = self.q(amount / pieces)
            if kind == "gap":
                self.p.host(part, PROGRAM)
            elif kind == "cpu_op":
                self.p.host(part, PROGRAM, PROGRAM_OPS[i % len(PROGRAM_OPS)])
            elif kind == "frames" and self.style.stack:
                with self.frame(PROGRAM_FRAMES[i % len(PROGRAM_FRAMES)]):
                    inner = part // self.unit // 3 * self.unit
                    self.p.host(inner, PROGRAM)
                    self.p.host(part - inner, PROGRAM, "<built-in method decode of str object at 0x7f1f34533d40>",
                                "python_function")
            else:
                self.p.host(part, PROGRAM, PROGRAM_NAMES[(i + self.p.pid) % len(PROGRAM_NAMES)], "user_annotation")

    def allocation_call(self, amount, free=False):
        name = ("hipFree" if free else "hipMalloc") if self.amd else ("cudaFree" if free else "cudaMalloc")
        self.p.host(self.q(amount), ALLOCATION, name, "cuda_runtime")

    def allocate(self, amount):
        size = self.rng.choice((150, 300, 600, 1500)) * US
        n = max(1, min(40, int(amount / size)))
        frees = n // 2 if self.rng.random() < 0.5 and self.plan.sync else 0
        for i in range(n):
            if i < frees:
                self.allocation_call(amount / n, True)
            else:
                self.p.begin("aten::empty")
                self.allocation_call(amount / n)
                self.p.end()

    def start_up(self, amount):
        n = max(1, min(12, int(amount / (1.5 * MS))))
        names = ["hipModuleLoadData"] if self.amd else ["cuModuleLoadData", "cuLibraryLoadData"]
        if self.plan.lazy_loading:
            for _ in range(n):
                lead = self.q(amount / n)
                self.p.begin("aten::mul")
                self.p.host(self.q(4 * US))
                self.p.host(lead, STARTUP, "Lazy Function Loading", "overhead")
                call = self.p.launch("cudaLaunchKernel", self.q(5 * US), self.work(1.5 * US, "mul"))
                call.lead = lead
                self.p.host(self.q(2 * US))
                self.p.end()
            return
        for i in range(n):
            name, key = ("triton_poi_fused_mul_silu_1", "triton_act") if i % 2 else ("aten::mm", "gemm")
            api, cat = self.api(key)
            self.p.begin(name)
            self.p.host(self.q(5 * US))
            self.p.host(self.q(amount / n), STARTUP, names[i % len(names)], "cuda_runtime" if self.amd else "cuda_driver")
            self.p.launch(api, self.q(5 * US), self.work(2 * US, key), cat=cat)
            self.p.host(self.q(3 * US))
            self.p.end()

    def compile(self, amount):
        cat = "cpu_op" if self.p.pid % 2 else "user_annotation"
        with self.frame("torch/_dynamo/convert_frame.py(1432): __call__"):
            depth = 0
            for name in COMPILE_RANGES[:3]:
                self.p.begin(name, cat)
                depth += 1
                self.p.host(self.q(amount * 0.1), COMPILATION)
            for name in COMPILE_RANGES[3:]:
                self.p.host(self.q(amount * 0.7 / 3), COMPILATION, name, cat)
            for _ in range(depth):
                self.p.end()

    # device classes
    def copy_work(self, dur, stream, kind="HtoD", pinned=True):
        memory = "Host" if self.amd else "Pinned" if pinned else "Pageable"
        name = f"Memcpy HtoD ({memory} -> Device)" if kind == "HtoD" else f"Memcpy DtoH (Device -> {memory})"
        rate = 24 if pinned else 9
        return Work(stream, self.q(dur), COPIES, name, "gpu_memcpy", {"bytes": max(4, int(dur * rate))},
                    self.q(1 * US, 0.3))

    def pageable_copy(self, amount):
        with self.frame("<built-in method to of Tensor object at 0x7f21449b30f0>"):
            for name in ("aten::to", "aten::_to_copy", "aten::copy_"):
                self.p.begin(name)
                self.p.host(self.q(3 * US))
            work = self.copy_work(amount, self.compute, pinned=False)
            if self.amd:
                self.p.blocking_copy("hipMemcpyWithStream", self.q(8 * US), work, PAGEABLE)
            else:
                self.p.blocking_copy("cudaMemcpyAsync", self.q(8 * US), work, PAGEABLE)
                self.p.sync("cudaStreamSynchronize", self.q(6 * US), self.compute)
            for _ in range(3):
                self.p.host(self.q(1.5 * US))
                self.p.end()

    def async_copy(self, amount, stream, kind="HtoD"):
        self.p.begin("aten::copy_")
        self.p.host(self.q(4 * US))
        self.p.launch("hipMemcpyAsync" if self.amd else "cudaMemcpyAsync", self.q(6 * US), self.copy_work(amount, stream, kind))
        self.p.host(self.q(2 * US))
        self.p.end()

    def collective(self, amount, kind=0, join=True):
        """Launches a collective on the stream of collectives; returns the event of its end."""
        name = COLLECTIVES[kind % 3]
        elements = int(amount / 1000 * 40000)
        comms = {"Collective name": name.replace("_", ""), "In msg nelems": elements, "Out msg nelems": elements,
                 "Group size": 8, "dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg"}
        prefix = "hip" if self.amd else "cuda"
        self.p.begin({"all_reduce": "c10d::allreduce_", "all_gather": "c10d::_allgather_base_",
                      "reduce_scatter": "c10d::_reduce_scatter_base_"}[name])
        self.p.host(self.q(5 * US))
        self.p.begin("record_param_comms", "cpu_op", comms)
        if join:
            event = self.p.record(self.compute, self.q(1.6 * US), prefix + "EventRecord")
            self.p.wait(self.nccl, event, self.q(1.2 * US), prefix + "StreamWaitEvent")
        self.p.begin(f"nccl:{name}", "user_annotation")
        work = Work(self.nccl, self.q(amount), COMMUNICATION, RCCL if self.amd else NCCL[kind % 3], "kernel", comms,
                    self.q(1 * US, 0.3))
        self.p.launch("hipExtModuleLaunchKernel" if self.amd else "cudaLaunchKernelExC", self.q(7 * US), work)
        self.p.end()
        done = self.p.record(self.nccl, self.q(1.2 * US), prefix + "EventRecord")
        self.p.host(self.q(2 * US))
        self.p.end()
        self.p.host(self.q(2 * US))
        self.p.end()
        return done

    def join(self, event):
        self.p.wait(self.compute, event, self.q(1.2 * US), ("hip" if self.amd else "cuda") + "StreamWaitEvent")

    def synchronize(self, kind):
        prefix = "hip" if self.amd else "cuda"
        if kind == "device":
            with self.frame("torch/cuda/__init__.py(1083): synchronize"):
                self.p.sync(prefix + "DeviceSynchronize", self.q(5 * US))
        elif kind == "item":
            with self.frame("<built-in method item of Tensor object at 0x7f21449b30f0>"):
                self.p.begin("aten::item")
                self.p.host(self.q(2 * US))
                self.p.begin("aten::_local_scalar_dense")
                self.p.host(self.q(3 * US))
                work = self.copy_work(1.4 * US, self.compute, "DtoH")
                work.args = {"bytes": 4}
                if self.amd:
                    self.p.blocking_copy("hipMemcpyWithStream", self.q(10 * US), work, ITEM)
                elif self.plan.pageable_item:
                    work.name = "Memcpy DtoH (Device -> Pageable)"
                    self.p.blocking_copy("cudaMemcpyAsync", self.q(8 * US), work, ITEM)
                    self.p.sync("cudaStreamSynchronize", self.q(6 * US), self.compute)
                else:
                    self.p.launch("cudaMemcpyAsync", self.q(8 * US), work)
                    self.p.sync("cudaStreamSynchronize", self.q(6 * US), self.compute)
                self.p.host(self.q(2 * US))
                self.p.end()
                self.p.host(self.q(1 * US))
                self.p.end()
        elif kind == "event":
            event = self.p.record(self.compute, self.q(1.5 * US), prefix + "EventRecord")
            self.p.sync(prefix + "EventSynchronize", self.q(5 * US), event)

    # steps
    def step(self, index):
        plan = self.plan
        for cls, amount in plan.extra.get(index, ()):
            self.host_work(cls, amount * US)
        if plan.phases:
            self.phased_step()
        else:
            self.plain_step(index)

    def plain_step(self, index):
        plan = self.plan
        forward, backward, _ = MODELS[plan.model]
        for cls, amount in plan.start:
            self.host_work(cls, amount * US)
        if plan.pageable:
            self.pageable_copy(plan.pageable * US)
        host, gpu = plan.dispatch * US, plan.gpu * US
        burst = gpu * plan.tail_burst
        gpu -= burst
        n = plan.kernels
        if plan.graphs:
            self.graph_launches(n, host, gpu)
        elif backward:
            optimizer = max(4, n // 16)
            first = (n - optimizer) * 2 // 5
            second = n - optimizer - first
            with self.annotation("forward", plan.annotate), self.frame("train.py(97): train_step"):
                self.ops(forward, first, host * first / n, gpu * first / n, each=self.each(first))
            for cls, amount in plan.middle:
                self.host_work(cls, amount * US)
            with self.annotation("backward", plan.annotate), self.frame("torch/_tensor.py(633): backward"), \
                    self.frame("<built-in method run_backward of torch._C._EngineBase object at 0x7f219eb3e180>"):
                self.p.host(self.q(14 * US))
                self.p.tid = self.autograd
                last = []
                buckets = min(6, max(2, second // 12)) if plan.buckets else 0

                def bucket(i):
                    if buckets and i % max(1, second // buckets) == 0 and len(last) < buckets:
                        last.append(self.collective(plan.buckets * US / buckets))
                self.ops(backward, second, host * second / n, gpu * second / n, True,
                         each=bucket if buckets else self.each(second))
                if plan.exposed_communication:
                    parts = 3
                    last = [self.collective(plan.exposed_communication * US / parts) for _ in range(parts)]
                self.forward_numbers.clear()
                self.p.tid = self.p.main
                self.p.host(self.q(14 * US))
                if last:
                    self.join(last[-1])
            with self.annotation("Optimizer.step#AdamW.step"), self.frame("torch/optim/adamw.py(243): step"):
                self.ops(OPTIMIZER, optimizer, host * optimizer / n, gpu * optimizer / n)
        else:
            half = n // 2
            region = plan.model == "compiled"
            with self.annotation("forward", plan.annotate), self.frame("model_runner.py(512): execute_model"):
                if region:
                    self.p.begin("Torch-Compiled Region: 0/0")
                    self.p.host(self.q(8 * US))
                self.ops(forward, half, host * half / n, gpu * half / n, each=self.each(half))
                for cls, amount in plan.middle:
                    self.host_work(cls, amount * US)
                self.ops(forward, n - half, host * (n - half) / n, gpu * (n - half) / n, each=self.each(n - half))
                if region:
                    self.p.end()
            if plan.exposed_communication:
                self.join(self.collective(plan.exposed_communication * US, 1))
                self.ops([(("aten::argmax",), "mean", 1.0)], 1, 20 * US, 5 * US)
        if burst:
            for i in range(4):
                self.op(LINEAR, "gemm", 20 * US, burst / 4)
        for cls, amount in plan.end:
            self.host_work(cls, amount * US)
        if plan.sync == "event_before":
            event = self.p.record(self.compute, self.q(1.5 * US), ("hip" if self.amd else "cuda") + "EventRecord")
            if self.previous_event is not None:
                self.p.sync(("hip" if self.amd else "cuda") + "EventSynchronize", self.q(4 * US), self.previous_event)
            self.previous_event = event
        elif plan.sync:
            for _ in range(plan.items_before_sync):
                self.synchronize("item")
            self.synchronize(plan.sync)
        for cls, amount in plan.after:
            self.host_work(cls, amount * US)

    def each(self, count):
        """What happens after some of the operators: copies on another stream, links of a chain, allocations."""
        plan = self.plan
        total = plan.kernels
        if plan.side_copies:
            every = max(1, total // 12)

            def copy(i):
                if i % every == 0:
                    self.async_copy(plan.side_copies * US * every / total, self.copy_stream, "DtoH" if i % 2 else "HtoD")
            return copy
        if plan.chain:
            cls, amount = plan.chain
            every = max(1, min(8, total // 10))

            def link(i):
                if i % every == 0:
                    part = amount * US * every / total
                    if cls == COPIES:
                        self.async_copy(part, self.compute)
                    else:
                        self.join(self.collective(part))
            return link
        if plan.spread_allocation:
            amount = plan.spread_allocation
            every = max(1, total // 16)

            def allocate(i):
                if i % every == 0:
                    self.p.begin("aten::empty_strided")
                    self.allocation_call(amount * US * every / total)
                    self.p.end()
            return allocate
        return None

    def graph_launches(self, n, host, gpu):
        plan = self.plan
        forward = MODELS[plan.model][0]
        per = n // plan.graphs
        weights = [forward[i % len(forward)][2] for i in range(per)]
        scale = gpu / plan.graphs / sum(weights)
        name = "hipGraphLaunch" if self.amd else "cudaGraphLaunch"
        for _ in range(plan.graphs):
            self.ops([(("aten::copy_",), "copy", 1.0)], 2, host / plan.graphs * 0.6, 3 * US)
            works = [self.work(weights[i] * scale, forward[i % len(forward)][1], index=i) for i in range(per)]
            for w in works:
                w.gap = self.q(0.6 * US, 0.3)
            self.p.launch(name, self.q(host / plan.graphs * 0.4), works)
            self.p.host(self.q(6 * US))

    def phased_step(self):
        """Phases of host and device work with a synchronization after each, and one at the end with nothing queued."""
        host, device = self.plan.phases
        order = [GPU, COMMUNICATION, COPIES]
        chunks = [list(c) for c in host]
        for i, cls in enumerate(order):
            for c, amount in chunks[i]:
                self.host_work(c, amount * US)
            amount = device[cls] * US
            if cls == COPIES:
                self.async_copy(amount, self.copy_stream)
            elif cls == GPU:
                for k in range(4):
                    self.op(LINEAR, "gemm", 20 * US, amount / 4)
            else:
                self.collective(amount, 1, join=False)
            self.synchronize("device")
        for c, amount in chunks[3]:
            self.host_work(c, amount * US)
        self.synchronize("device")


def watchdog(timeline, rng, tid):
    """Queries of a thread that watches collectives: host events that nothing waits for."""
    at = rng.randrange(200 * US, 3 * MS)
    while at < timeline.end - 100 * US:
        r = Range("cudaEventQuery", "cuda_runtime", tid)
        r.start, r.end = at, at + 3 * US
        timeline.ranges.append(r)
        at += 20 * MS + rng.randrange(3 * MS) // US * US
