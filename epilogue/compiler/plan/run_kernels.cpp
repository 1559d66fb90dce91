// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/run_kernels.h"

#include <algorithm>
#include <array>

#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/plan/run_tiles.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {
namespace {

using Walk = cpu::FusedWalk;

// Whether the run has the strides for which the code was compiled.
bool has_compiled_strides(const PointwiseCode& code, const Walk::Run& run) {
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

// Cost of one element relative to copying it.
int64_t element_cost(const Program& program) {
  int64_t cost = 1;
  for (const Step& step : program.steps) {
    if (step.function) cost += pointwise::relative_cpu_cost(*step.function) - 1;
  }
  return cost;
}

template <typename Body>
void run_reported(const KernelCost& cost, Body&& body) {
  run_kernel([&] { return cost; }, std::forward<Body>(body));
}

// Bytes of x that a thread keeps in its L2 cache while it iterates over the panels: the rest of the
// cache is for the panel and the results. A smaller block makes f32 on a Xeon 5 to 8 % faster, and
// on a Neoverse V1 4 % slower (`make rivals`, 512 and 2048 rows).
int64_t block_bytes(GemmKind kind) {
  static const int64_t l2_bytes = cache_bytes(2);
#if defined(__x86_64__)
  if (kind == GemmKind::kVectors || kind == GemmKind::kHalves) return l2_bytes / 8;
#endif
  (void)kind;
  return l2_bytes * 3 / 4;
}
// With fewer row tiles per thread, the last ones would leave threads idle. Panels are distributed
// instead.
constexpr int64_t kTilesPerThread = 8;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A GEMM kernel has no more other operands than a pointwise group (has_few_operands).
using Arguments = std::array<GemmArgument, kFirstOther + cpu::kMaxFusedOperands>;

Arguments arguments_of(const GemmCall& call) {
  Arguments arguments{call.packed_x, call.weights};
  std::copy(call.others.begin(), call.others.end(), arguments.begin() + kFirstOther);
  return arguments;
}

class GemmRun {
 public:
  GemmRun(const GemmCall& call, const GemmArgument* arguments)
      : call_(call),
        function_(reinterpret_cast<GemmFunction>(call.function)),
        arguments_(arguments),
        tiles_(ceil_div(call.x.count, call.tile.rows)),
        panels_(panels_of(*call.code, call.tile)) {
    const int64_t row_bytes = packed_rows_bytes(*call.code, call.tile, call.x) / call.x.count;
    const int64_t block_tiles = std::max<int64_t>(
        block_bytes(call.tile.kind) / std::max<int64_t>(row_bytes * call.tile.rows, 1), 1);
    blocks_ = ceil_div(tiles_, block_tiles);
  }

  void run() {
    if (tiles_ >= kTilesPerThread * num_threads()) {
      split_rows();
    } else {
      split_panels();
    }
  }

 private:
  // Rounds the number of blocks up to a multiple of the number of threads. Each block is packed by
  // the thread that multiplies it.
  void split_rows() {
    blocks_ = ceil_div(blocks_, num_threads()) * num_threads();
    parallel_for(blocks_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        pack_tiles(first_tile(block), first_tile(block + 1));
        for (int64_t panel = 0; panel < panels_; ++panel) multiply(block, panel);
      }
    });
  }

  void split_panels() {
    // At least two tiles per part: packing one is not worth waking a thread.
    parallel_for(tiles_, 2, [&](int64_t begin, int64_t end) { pack_tiles(begin, end); });
    parallel_for(blocks_ * panels_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) multiply(task / panels_, task % panels_);
    });
  }

  // Block sizes differ by at most one tile.
  int64_t first_tile(int64_t block) const { return block * tiles_ / blocks_; }
  int64_t first_row(int64_t block) const {
    return std::min(first_tile(block) * call_.tile.rows, call_.x.count);
  }
  void pack_tiles(int64_t begin, int64_t end) const {
    pack_rows(*call_.code, call_.tile, call_.x, begin * call_.tile.rows,
              std::min(end * call_.tile.rows, call_.x.count), call_.packed_x);
  }
  void multiply(int64_t block, int64_t panel) const {
    function_(arguments_, first_row(block), first_row(block + 1), panel);
  }

  const GemmCall& call_;
  GemmFunction function_;
  const GemmArgument* arguments_;
  int64_t tiles_;
  int64_t panels_;
  int64_t blocks_ = 1;
};

}  // namespace

void run_pointwise(const PointwiseCall& call, const KernelCost& cost) {
  std::array<cpu::Operand, cpu::kMaxFusedOperands> operands;
  const PointwiseCode& code = *call.code;
  const size_t outputs = code.outputs.size();
  const size_t count = outputs + code.inputs.size();
  for (size_t i = 0; i < count; ++i) {
    const DType dtype = i < outputs ? code.outputs[i] : code.inputs[i - outputs].dtype;
    operands[i] = {call.data[i], call.strides[i], size_bytes(dtype)};
  }
  run_reported(cost, [&] {
    const Walk walk(call.shape, std::span(operands).first(count));
    walk.parallel(
        [&](const Walk::Run& run) {
          call.function(run.data.data(), run.strides.data(),
                        has_compiled_strides(code, run) ? run.count : 0, run.count);
        },
        element_cost(code.program));
  });
}

void run_gemm(const GemmCall& call, const KernelCost& cost) {
  run_reported(cost, [&] {
    const Arguments arguments = arguments_of(call);
    if (call.tile.kind == GemmKind::kTiles) {
      run_tiles(call, arguments.data());
    } else {
      GemmRun(call, arguments.data()).run();
    }
  });
}

}  // namespace epi::compiler
