// SPDX-License-Identifier: Apache-2.0
// The texts, sizes and rules of the lessons of `epilogue tour`. docs/tutorial.md has the same
// lessons.
#include "epilogue/cli/tour/tour.h"

namespace epi::cli {
namespace {

Lesson make_lesson(const char* mode, const char* title, const char* expectation,
                   const RunFlags& run) {
  Lesson lesson;
  lesson.mode = mode;
  lesson.title = title;
  lesson.expectation = expectation;
  lesson.run = run;
  return lesson;
}

RunFlags compiled(RunFlags flags, const char* fuse) {
  flags.compile = true;
  flags.fuse = fuse;
  return flags;
}

// A Linear, and the equivalent matmul and add with the same sizes and the same layout of w.
void add_linear_lessons(bool quick, const char* device, std::vector<Lesson>& lessons) {
  RunFlags linear;
  linear.workload = "linear";
  linear.device = device;
  linear.in_dim = linear.out_dim = quick ? "256" : "768";
  linear.batch = quick ? "64" : "256";
  RunFlags matmul_add;
  matmul_add.workload = "matmul-add";
  matmul_add.device = device;
  matmul_add.size = matmul_add.cols = linear.in_dim;
  matmul_add.rows = linear.batch;
  matmul_add.bias = true;
  matmul_add.layout = "tn";

  lessons.push_back(
      make_lesson("matmul eager", "matmul, then add",
                  "add(matmul(x, w), b) is two operators and two kernels: a GEMM that writes its "
                  "result, and a pointwise kernel that reads it, adds b and writes it again.",
                  matmul_add));
  lessons.back().rules = {"matmul_add: kernels == 2", "matmul_add: gemm == 1",
                          "matmul_add: pointwise == 1"};

  lessons.push_back(make_lesson(
      "matmul compile", "matmul and add, compiled",
      "The compiler merges them into one operator, aten::addmm, and one kernel: b is added in the "
      "GEMM's epilogue, just before the result is written.",
      compiled(matmul_add, "pointwise")));
  lessons.back().rules = {"matmul_add: kernels == 1", "matmul_add: count aten::addmm == 1",
                          "matmul_add: no op aten::add"};
  lessons.back().baseline = "matmul eager";
  lessons.back().raw_names = true;

  lessons.push_back(make_lesson(
      "linear eager", "A Linear, eager",
      "y = x @ w.t() + b runs that kernel without a compiler: aten::linear calls aten::t, "
      "which only changes shape and strides and launches no kernel, and aten::addmm.",
      linear));
  lessons.back().rules = {"linear_fwd: kernels == 1", "aten::t: gpu_time == 0",
                          "linear_fwd: no op aten::add"};
  lessons.back().same_kernels_as = "matmul compile";
  lessons.back().raw_names = true;

  lessons.push_back(make_lesson(
      "linear compile", "The same Linear, compiled",
      "There is nothing to fuse: the kernel is the same, down to its name. A kernel's name "
      "identifies it: the same name means the same work. On the CPU the view operators are gone "
      "and guards are added. On a small Linear the guards may cost more than the views did.",
      compiled(linear, "pointwise")));
  lessons.back().rules = {"linear_fwd: same kernels as linear eager", "linear_fwd: no op aten::t"};
  lessons.back().baseline = "linear eager";
  lessons.back().same_kernels_as = "linear eager";
  lessons.back().raw_names = true;

  lessons.push_back(make_lesson(
      "linear epilogue", "The Linear in our GEMM template",
      "With --fuse epilogue the compiler also generates GEMMs, and fuses the pointwise operators "
      "that follow a GEMM into its epilogue: bias, activation, gate. A Linear has only the bias, "
      "which the library's GEMM also adds, so it is one kernel either way. On a GPU the compiler "
      "keeps the library's GEMM if it expects that to be faster. The kernel is then the same "
      "again.",
      compiled(linear, "epilogue")));
  lessons.back().rules = {"linear_fwd: kernels == 1", "linear_fwd: no op aten::t"};
  lessons.back().baseline = "linear eager";
  lessons.back().raw_names = true;
}

void add_mlp_lessons(bool quick, const char* device, std::vector<Lesson>& lessons) {
  RunFlags mlp;
  mlp.workload = "mlp";
  mlp.device = device;
  mlp.batch = quick ? "1" : "4";
  if (quick) {
    mlp.seq = "64";
    mlp.dim = "256";
    mlp.hidden = "1024";
  }

  lessons.push_back(make_lesson(
      "mlp eager", "A gated MLP, eager",
      "down(gelu(gate(x)) * up(x)) is five kernels: three GEMMs, a gelu and a multiplication. "
      "Each Linear calls several operators, but only aten::mm launches a kernel. Hidden "
      "activations are read or written eight times: two GEMMs write them, gelu reads and writes, "
      "mul reads two and writes one, and the last GEMM reads them.",
      mlp));
  lessons.back().rules = {"mlp_fwd: kernels == 5",        "mlp_fwd: gemm == 3",
                          "mlp_fwd: pointwise == 2",      "mlp_fwd: count aten::linear == 3",
                          "mlp_fwd: count aten::mm == 3", "aten::t: gpu_time == 0"};

  lessons.push_back(make_lesson(
      "mlp pointwise", "The MLP, compiled: pointwise fusion",
      "gelu and mul become one kernel, and gelu's result never goes through memory: two of the "
      "eight reads and writes of hidden activations are gone. The GEMMs stay the same.",
      compiled(mlp, "pointwise")));
  lessons.back().rules = {"mlp_fwd: kernels == 4", "mlp_fwd: gemm == 3", "mlp_fwd: no op aten::t"};
  lessons.back().baseline = "mlp eager";
  lessons.back().hidden_moves_saved = 2;

  lessons.push_back(make_lesson(
      "mlp epilogue", "The MLP, compiled: fusion into the GEMM's epilogue",
      "gate and up become one kernel that applies gelu and mul before it writes: hidden "
      "activations are written once and read once, two transfers instead of eight. Another batch "
      "size runs the same code, without a recompile.",
      compiled(mlp, "epilogue")));
  lessons.back().rules = {"mlp_fwd: kernels == 2", "mlp_fwd: no op aten::t"};
  lessons.back().baseline = "mlp eager";
  lessons.back().hidden_moves_saved = 6;
  lessons.back().other_batch = quick ? "3" : "6";

  RunFlags prebuilt = mlp;
  prebuilt.kernels = "epilogue/glu@1";
  lessons.push_back(make_lesson(
      "mlp prebuilt", "The MLP with a prebuilt kernel",
      "A kernel package of a fixed version does the same as pointwise fusion, for every shape, "
      "without compiling and without guards. In the trace it is an operator with recorded shapes.",
      prebuilt));
  lessons.back().rules = {"mlp_fwd: kernels == 4", "mlp_fwd: gemm == 3", "mlp_fwd: no op /Guards/",
                          "mlp_fwd: count /gelu.*_and_mul/ == 1"};
  lessons.back().baseline = "mlp eager";
  lessons.back().hidden_moves_saved = 2;
}

}  // namespace

std::vector<Lesson> tour_lessons(bool quick, Device device) {
  std::vector<Lesson> lessons;
  const char* name = device == kCpu ? "cpu" : "cuda";
  add_linear_lessons(quick, name, lessons);
  add_mlp_lessons(quick, name, lessons);
  return lessons;
}

}  // namespace epi::cli
