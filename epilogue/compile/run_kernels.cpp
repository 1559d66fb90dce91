// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/run_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {
namespace {

using Walk = cpu::FusedWalk;

// The run has the strides that the code was compiled for.
bool is_as_compiled(const PointwiseCode& code, const Walk::Run& run) {
  const size_t outputs = code.outputs.size();
  for (size_t i = 0; i < outputs; ++i) {
    if (run.strides[i] != 1) return false;
  }
  for (size_t i = 0; i < code.inputs.size(); ++i) {
    const int64_t stride = run.strides[outputs + i];
    if (code.inputs[i].along == Along::kDense && stride != 1) return false;
    if (code.inputs[i].along == Along::kBroadcast && stride != 0) return false;
  }
  return true;
}

// What an element costs beside one copied element: a transcendental step is worth four.
int64_t element_cost(const Program& program) {
  int64_t cost = 1;
  for (const Step& step : program.steps) {
    const bool cheap = step.op == Op::kAdd || step.op == Op::kSub || step.op == Op::kMul ||
                       step.op == Op::kNeg || step.op == Op::kRelu || step.op == Op::kCopy_;
    if (!cheap) cost += 3;
  }
  return cost;
}

template <typename Body>
void run_named(const KernelCost& cost, Body&& body) {
  run_kernel([&] { return cost; }, std::forward<Body>(body));
}

// Rows of x that one task keeps in the second-level cache while it goes through the panels: half
// of the 1 MiB that the smallest of today's servers have.
constexpr int64_t kBlockBytes = 512 * 1024;

int64_t rows_of_block(const GemmCall& call) {
  const int64_t row_bytes =
      call.code->k * (call.tile.kind == GemmKind::kVectors ? 4 : size_bytes(call.code->dtype));
  const int64_t rows = std::max<int64_t>(kBlockBytes / row_bytes / call.tile.rows, 1);
  return rows * call.tile.rows;
}

}  // namespace

void run_pointwise(const PointwiseCall& call, const KernelCost& cost) {
  std::array<cpu::Operand, cpu::kMostFusedOperands> operands;
  const PointwiseCode& code = *call.code;
  const size_t outputs = code.outputs.size();
  const size_t count = outputs + code.inputs.size();
  for (size_t i = 0; i < count; ++i) {
    const DType dtype = i < outputs ? code.outputs[i] : code.inputs[i - outputs].dtype;
    operands[i] = {call.data[i], call.strides[i], size_bytes(dtype)};
  }
  run_named(cost, [&] {
    const Walk walk(call.shape, std::span(operands).first(count));
    walk.parallel(
        [&](const Walk::Run& run) {
          call.function(run.data.data(), run.strides.data(),
                        is_as_compiled(code, run) ? run.count : 0, run.count);
        },
        element_cost(code.program));
  });
}

void run_gemm(const GemmCall& call, const KernelCost& cost) {
  // The struct's words, as many as there are.
  std::array<std::byte*, 3 + cpu::kMostFusedOperands> words{};
  run_named(cost, [&] {
    GemmArguments fixed{
        call.x.data, call.x.row_stride * size_bytes(call.code->dtype), call.weights, {}};
    const int64_t packed_bytes = packed_rows_bytes(*call.code, call.tile, call.x);
    if (packed_bytes > 0) {
      pack_rows(*call.code, call.tile, call.x, call.packed_x);
      fixed.x = call.packed_x;
      fixed.x_row_bytes = packed_bytes / call.x.count;
    }
    std::memcpy(words.data(), &fixed, offsetof(GemmArguments, others));
    std::copy(call.others.begin(), call.others.end(), words.begin() + 3);
    const int64_t panels = panels_of(*call.code, call.tile);
    const int64_t block = rows_of_block(call);
    const int64_t blocks = (call.x.count + block - 1) / block;
    parallel_for(blocks * panels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task / panels * block;
        call.function(words.data(), first, std::min(first + block, call.x.count), task % panels);
      }
    });
  });
}

}  // namespace epi::compiler
