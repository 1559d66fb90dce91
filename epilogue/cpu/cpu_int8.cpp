// SPDX-License-Identifier: Apache-2.0
// int8_mm: quantizes the rows of x if asked to, and multiplies them by blocks of weight rows.
#include <algorithm>
#include <array>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/int8_groups.h"

namespace epi::cpu {
namespace {

constexpr int64_t kColumns = 64;  // of a block; its weights stay in the L2 cache for all rows
// Waking a thread pays off for this many weights.
constexpr int64_t kGrainWeights = 64 * 1024;

// The rows of x as f32, or quantized.
struct Int8Rows {
  std::vector<float> numbers;
  std::vector<int8_t> quantized;  // each row is padded to whole groups
  std::vector<float> scales;
};

Int8Rows make_rows(const Tensor& x, bool int8_input) {
  const int64_t m = x.size(0);
  const int64_t k = x.size(1);
  const int64_t groups = int8_groups(k);
  Int8Rows rows;
  rows.numbers.resize(static_cast<size_t>(m * k));
  if (int8_input) {
    rows.quantized.resize(static_cast<size_t>(m * groups * kInt8Group));
    rows.scales.resize(static_cast<size_t>(m * groups));
  }
  const ConvertLoop convert = converter(x.dtype(), DType::kF32);
  const int64_t element = size_bytes(x.dtype());
  parallel_for(m, 4, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* row = rows.numbers.data() + r * k;
      convert(x.raw_data() + r * x.stride(0) * element, x.stride(1), row, 1, k);
      if (!int8_input) continue;
      loops().int8.quantize(row, k, rows.quantized.data() + r * groups * kInt8Group,
                            rows.scales.data() + r * groups);
    }
  });
  return rows;
}

// One call, without its rows.
struct Int8Call {
  Tensor weight;            // [k, n] with dense columns
  Tensor scale;             // f32 [n, groups]
  std::vector<float> bias;  // empty if there is none
  bool int8_input = true;
  Tensor out;
};

// Computes columns [column, column + columns) of every row.
void multiply(const Int8Call& call, const Int8Rows& rows, int64_t column, int64_t columns) {
  const int64_t k = call.weight.size(0);
  const int64_t n = call.weight.size(1);
  const int64_t ld = call.weight.stride(1);
  const int64_t groups = call.scale.size(1);
  const auto* w = call.weight.data<int8_t>() + column * ld;
  const float* scales = call.scale.data<float>() + column * groups;
  const ConvertLoop round = converter(DType::kF32, call.out.dtype());
  std::array<float, kColumns> sums;
  for (int64_t r = 0; r < call.out.size(0); ++r) {
    if (call.int8_input) {
      const int64_t at = r * int8_groups(k);
      loops().int8.dot(rows.quantized.data() + at * kInt8Group, rows.scales.data() + at, k, w, ld,
                       columns, scales, groups, sums.data());
    } else {
      loops().int8.dot_float(rows.numbers.data() + r * k, k, w, ld, columns, scales, groups,
                             sums.data());
    }
    if (!call.bias.empty()) {
      for (int64_t c = 0; c < columns; ++c) {
        sums[static_cast<size_t>(c)] += call.bias[static_cast<size_t>(column + c)];
      }
    }
    round(sums.data(), 1, call.out.raw_data() + (r * n + column) * size_bytes(call.out.dtype()), 1,
          columns);
  }
}

}  // namespace

void int8_mm(Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const Tensor& mat2 = args.tensor(1);
  const Tensor bias = args.optional_tensor(3);
  Int8Call call;
  // The transposed view of dense rows, as in `int8_linear`, is read in place.
  call.weight = mat2.stride(0) == 1 ? mat2 : t(contiguous(t(mat2)));
  call.scale = contiguous(to(args.tensor(2), DType::kF32));
  call.int8_input = args[4].flag();
  call.out = out;
  if (bias.defined()) {
    call.bias.resize(static_cast<size_t>(bias.numel()));
    converter(bias.dtype(), DType::kF32)(bias.raw_data(), bias.stride(0), call.bias.data(), 1,
                                         bias.numel());
  }
  const int64_t m = x.size(0);
  const int64_t k = x.size(1);
  const int64_t n = mat2.size(1);
  run_kernel(
      [&]() -> KernelCost {
        const char* kind = m == 1 ? "gemv" : "gemm";
        const char* epilogue = bias.defined() ? "_bias" : "";
        return {call.int8_input ? KernelName("{}_i8_to_{}_tn{}", kind, name(out.dtype()), epilogue)
                                : KernelName("{}_{}_i8_tn{}", kind, name(x.dtype()), epilogue),
                stored_bytes(x) + stored_bytes(mat2) + stored_bytes(args.tensor(2)) +
                    (bias.defined() ? stored_bytes(bias) : 0) + out.size_bytes(),
                2 * m * n * k + (bias.defined() ? m * n : 0)};
      },
      [&] {
        const Int8Rows rows = make_rows(x, call.int8_input);
        const int64_t grain = std::max<int64_t>(16, kGrainWeights / std::max<int64_t>(k, 1));
        parallel_for(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t column = begin; column < end; column += kColumns) {
            multiply(call, rows, column, std::min(kColumns, end - column));
          }
        });
      });
}

}  // namespace epi::cpu
