// SPDX-License-Identifier: Apache-2.0
// mm, addmm, addmm with an activation, and bmm: derive the operands from the strides, choose the
// implementation, and report the kernel.
#include "epilogue/cpu/cpu_matmul.h"

#include <algorithm>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/readable.h"

namespace epi::cpu {
namespace {

void run_gemm(const Gemm& p) {
  if (p.m <= kGemvRows && p.dtype != DType::kF64) {
    gemv(p);
  } else if (p.dtype == DType::kF32 || p.dtype == DType::kF64) {
    gemm_blas(p);
  } else {
    gemm_half(p);
  }
}

// "gemm_f32_tn_bias": the weight's order comes first, as in cuBLAS kernel names.
KernelName gemm_name(const Gemm& p, std::string_view kind, std::string_view epilogue) {
  const bool is_gemv = p.m <= kGemvRows && p.dtype != DType::kF64;
  return KernelName("{}{}_{}_{}{}{}", is_gemv ? "gemv" : "gemm", kind, name(p.dtype),
                    p.b.transposed ? 't' : 'n', p.a.transposed ? 't' : 'n', epilogue);
}

Gemm gemm_of(const Tensor& a, const Readable& left, const Tensor& b, const Readable& right,
             const Tensor& out) {
  Gemm p;
  p.dtype = out.dtype();
  p.m = a.size(-2);
  p.n = b.size(-1);
  p.k = a.size(-1);
  p.a = left.matrix;
  p.b = right.matrix;
  p.out = out.raw_data();
  p.ld_out = std::max<int64_t>(p.n, 1);
  return p;
}

}  // namespace

template <typename T>
void write_self(const Gemm& p, int64_t row, int64_t rows, int64_t column, int64_t columns, T* to,
                int64_t ld) {
  const auto element = size_bytes(p.dtype);
  const DType target = DTypeOf<T>::value;
  const ConvertLoop convert = converter(p.dtype, target);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = (row + r) * p.self_row_stride + column * p.self_column_stride;
    T* line = to + r * ld;
    convert(p.self + at * element, p.self_column_stride, line, 1, columns);
    if (p.beta == 1) continue;
    for (int64_t c = 0; c < columns; ++c) line[c] *= static_cast<T>(p.beta);
  }
}
template void write_self<float>(const Gemm&, int64_t, int64_t, int64_t, int64_t, float*, int64_t);
template void write_self<double>(const Gemm&, int64_t, int64_t, int64_t, int64_t, double*, int64_t);

void mm(Args args, const Tensor& out) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  const Readable left = readable(a);
  const Readable right = readable(b);
  const Gemm p = gemm_of(a, left, b, right, out);
  run_kernel(
      [&]() -> KernelCost {
        return {gemm_name(p, "", ""), stored_bytes(a) + stored_bytes(b) + out.size_bytes(),
                2 * p.m * p.n * p.k};
      },
      [&] { run_gemm(p); });
}

void addmm(Args args, const Tensor& out) {
  const Tensor& self = args.tensor(0);
  const Tensor& a = args.tensor(1);
  const Tensor& b = args.tensor(2);
  const Readable left = readable(a);
  const Readable right = readable(b);
  Gemm p = gemm_of(a, left, b, right, out);
  p.alpha = args[4].number();
  p.beta = args[3].number();
  const Dims strides = broadcast_strides("addmm", self.layout(), out.shape());
  if (p.beta != 0) p.self = self.raw_data();
  p.self_row_stride = strides[0];
  p.self_column_stride = strides[1];
  const bool is_bias = strides[0] == 0 || p.m == 1;
  run_kernel(
      [&]() -> KernelCost {
        const char* epilogue = p.self == nullptr ? "" : is_bias ? "_bias" : "_add";
        const int64_t inputs =
            stored_bytes(a) + stored_bytes(b) + (p.self ? stored_bytes(self) : 0);
        return {gemm_name(p, "", epilogue), inputs + out.size_bytes(),
                2 * p.m * p.n * p.k + (p.self ? p.m * p.n : 0)};
      },
      [&] { run_gemm(p); });
}

void addmm_activation(Args args, const Tensor& out) {
  addmm(args, out);
  const Arg in_place[] = {out, "tanh"};
  run_pointwise(args[5].flag() ? Op::kGelu : Op::kRelu, Args(in_place), out);
}

namespace {

// `p` is the first GEMM. The strides of `a` and `b` give the others.
void run_batch(const Gemm& p, const Tensor& a, const Tensor& b) {
  const int64_t element = size_bytes(p.dtype);
  const auto batches = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Gemm one = p;
      one.a.data += i * a.stride(0) * element;
      one.b.data += i * b.stride(0) * element;
      one.out += i * p.m * p.n * element;
      run_gemm(one);
    }
  };
  // A few large matrices run one after the other, each on all cores. Many small ones run in
  // parallel.
  if (a.size(0) >= num_threads()) {
    parallel_for(a.size(0), 1, batches);
  } else {
    batches(0, a.size(0));
  }
}

}  // namespace

void bmm(Args args, const Tensor& out) {
  const Tensor a = readable_batch(args.tensor(0));
  const Tensor b = readable_batch(args.tensor(1));
  const Gemm p = gemm_of(a, readable(first_matrix(a)), b, readable(first_matrix(b)), out);
  run_kernel(
      [&]() -> KernelCost {
        return {gemm_name(p, "_batched", ""),
                stored_bytes(args.tensor(0)) + stored_bytes(args.tensor(1)) + out.size_bytes(),
                2 * a.size(0) * p.m * p.n * p.k};
      },
      [&] { run_batch(p, a, b); });
}

}  // namespace epi::cpu
