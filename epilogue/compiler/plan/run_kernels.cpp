// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/run_kernels.h"

#include <unistd.h>

#include <algorithm>
#include <array>

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

// What an element costs beside one copied element.
int64_t element_cost(const Program& program) {
  int64_t cost = 1;
  for (const Step& step : program.steps) {
    if (step.function) cost += pointwise::relative_cpu_cost(*step.function) - 1;
  }
  return cost;
}

template <typename Body>
void run_named(const KernelCost& cost, Body&& body) {
  run_kernel([&] { return cost; }, std::forward<Body>(body));
}

// Rows of x that a thread keeps in its second-level cache while it goes through the panels: half of
// it. Where the system does not say, of the 1 MiB that the smallest of today's servers have.
int64_t block_bytes() {
  static const int64_t bytes = [] {
    const int64_t second_level = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return (second_level > 0 ? second_level : int64_t{1} << 20) / 2;
  }();
  return bytes;
}
// With fewer tiles of rows for each thread the last of them would leave threads idle: panels are
// shared out instead.
constexpr int64_t kTilesPerThread = 8;

int64_t rounded_up_division(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As many others as a group of operators may have: a GEMM takes the place of its result, and
// what it adds to its sums the place of that.
using Words = std::array<GemmWord, kFirstOther + cpu::kMaxFusedOperands>;

class GemmRun {
 public:
  explicit GemmRun(const GemmCall& call)
      : call_(call),
        tiles_(rounded_up_division(call.x.count, call.tile.rows)),
        panels_(panels_of(*call.code, call.tile)) {
    words_[0].address = call.x.data;
    words_[1].number = call.x.row_stride * size_bytes(call.code->dtype);
    words_[2].address = call.weights;
    const int64_t packed_bytes = packed_rows_bytes(*call.code, call.tile, call.x);
    packs_ = packed_bytes > 0;
    if (packs_) {
      words_[0].address = call.packed_x;
      words_[1].number = packed_bytes / call.x.count;
    }
    for (size_t i = 0; i < call.others.size(); ++i) {
      words_[kFirstOther + i].address = call.others[i];
    }
    const int64_t row_bytes = words_[1].number;
    const int64_t block_tiles =
        std::max<int64_t>(block_bytes() / std::max<int64_t>(row_bytes * call.tile.rows, 1), 1);
    blocks_ = rounded_up_division(tiles_, block_tiles);
  }

  void run() {
    if (tiles_ >= kTilesPerThread * num_threads()) {
      share_rows();
    } else {
      share_panels();
    }
  }

 private:
  // As many blocks as threads, or a multiple: each is packed by the thread that multiplies it.
  void share_rows() {
    blocks_ = rounded_up_division(blocks_, num_threads()) * num_threads();
    parallel_for(blocks_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        if (packs_) pack(block);
        for (int64_t panel = 0; panel < panels_; ++panel) multiply(block, panel);
      }
    });
  }

  void share_panels() {
    if (packs_) {
      for (int64_t block = 0; block < blocks_; ++block) pack(block);
    }
    parallel_for(blocks_ * panels_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) multiply(task / panels_, task % panels_);
    });
  }

  // Blocks differ by one tile at most.
  int64_t first_row(int64_t block) const {
    return std::min(block * tiles_ / blocks_ * call_.tile.rows, call_.x.count);
  }
  void pack(int64_t block) const {
    pack_rows(*call_.code, call_.tile, call_.x, first_row(block), first_row(block + 1),
              call_.packed_x);
  }
  void multiply(int64_t block, int64_t panel) const {
    call_.function(words_.data(), first_row(block), first_row(block + 1), panel);
  }

  const GemmCall& call_;
  int64_t tiles_;
  int64_t panels_;
  int64_t blocks_ = 1;
  bool packs_ = false;
  Words words_{};
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
  run_named(cost, [&] { GemmRun(call).run(); });
}

}  // namespace epi::compiler
