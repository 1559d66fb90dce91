// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/tour/tour.h"

namespace epi::cli {
namespace {

Lesson lesson_of(const char* mode, const char* title, const char* expectation,
                 const RunFlags& run) {
  return {mode, title, expectation, run, {}, {}, 0, {}};
}

}  // namespace

std::vector<Lesson> tour_lessons(bool quick, Device device) {
  RunFlags linear;
  linear.workload = "linear";
  linear.device = device == kCpu ? "cpu" : "cuda";
  linear.in_dim = linear.out_dim = quick ? "256" : "768";
  linear.batch = quick ? "64" : "256";
  RunFlags mlp;
  mlp.workload = "mlp";
  mlp.device = linear.device;
  mlp.batch = quick ? "1" : "4";
  if (quick) {
    mlp.seq = "64";
    mlp.dim = "256";
    mlp.hidden = "1024";
  }
  const auto compiled = [](RunFlags flags, const char* fuse) {
    flags.compile = true;
    flags.fuse = fuse;
    return flags;
  };
  std::vector<Lesson> lessons;
  lessons.push_back(lesson_of(
      "linear eager", "A linear, eager",
      "y = x @ w.t() + b is one kernel. The transpose rewrites strides and launches nothing; the "
      "bias is added in the GEMM's epilogue, just before the result is written back.",
      linear));
  lessons.back().rules = {"linear_fwd: kernels == 1", "aten::t: gpu_time == 0",
                          "linear_fwd: no op aten::add"};
  lessons.push_back(lesson_of(
      "linear compile", "The same linear, compiled",
      "There is nothing to fuse: the kernel stays the same. Its name is its identity: the same "
      "name is the same work. The view bookkeeping is gone from the CPU, guards are new; on a "
      "small linear they may cost more than they save.",
      compiled(linear, "pointwise")));
  lessons.back().rules = {"linear_fwd: same kernels as linear eager", "linear_fwd: no op aten::t"};
  lessons.back().like = "linear eager";
  lessons.push_back(lesson_of(
      "mlp eager", "A gated MLP, eager",
      "down(gelu(gate(x)) * up(x)) is five kernels: three GEMMs, a gelu, a multiplication. "
      "Each linear shows several operators, and only its product reaches the device. Hidden "
      "activations move through memory eight times: two GEMMs write them, gelu reads and writes, "
      "mul reads two and writes one, the last GEMM reads them.",
      mlp));
  lessons.back().rules = {"mlp_fwd: kernels == 5",        "mlp_fwd: gemm == 3",
                          "mlp_fwd: pointwise == 2",      "mlp_fwd: count aten::linear == 3",
                          "mlp_fwd: count aten::mm == 3", "aten::t: gpu_time == 0"};
  lessons.push_back(lesson_of(
      "mlp pointwise", "The MLP, compiled: pointwise fusion",
      "gelu and mul become one kernel, and gelu's result never goes to memory and back: two of the "
      "eight times that hidden activations are moved are gone. The GEMMs stay the same.",
      compiled(mlp, "pointwise")));
  lessons.back().rules = {"mlp_fwd: kernels == 4", "mlp_fwd: gemm == 3", "mlp_fwd: no op aten::t"};
  lessons.back().like = "mlp eager";
  lessons.back().hidden_kept = 2;
  lessons.push_back(lesson_of(
      "mlp epilogue", "The MLP, compiled: fusion into the GEMM's epilogue",
      "gate and up become one kernel that activates and multiplies before it writes: the hidden "
      "activations are written once and read once, two of eight. Another batch runs the same code, "
      "without a recompile.",
      compiled(mlp, "epilogue")));
  lessons.back().rules = {"mlp_fwd: kernels == 2", "mlp_fwd: no op aten::t"};
  lessons.back().like = "mlp eager";
  lessons.back().hidden_kept = 6;
  lessons.back().other_batch = quick ? "3" : "6";
  RunFlags prebuilt = mlp;
  prebuilt.kernels = "epilogue/glu@1";
  lessons.push_back(lesson_of(
      "mlp prebuilt", "The MLP with a prebuilt kernel",
      "A package of a fixed version does what the compiler's pointwise fusion does, for every "
      "shape, without compiling and without guards.",
      prebuilt));
  lessons.back().rules = {"mlp_fwd: kernels == 4", "mlp_fwd: gemm == 3", "mlp_fwd: no op /Guards/"};
  lessons.back().like = "mlp eager";
  lessons.back().hidden_kept = 2;
  return lessons;
}

}  // namespace epi::cli
