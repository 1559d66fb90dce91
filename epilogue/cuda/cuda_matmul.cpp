// SPDX-License-Identifier: Apache-2.0
// mm, addmm and bmm. Strides determine the operands' layout. The bias and the activation move into
// the cuBLASLt epilogue if possible, where they cost nothing.
#include <algorithm>
#include <limits>

#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/gemm.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/readable.h"

namespace epi::cuda {
namespace {

Gemm gemm_of(const Readable& a, const Readable& b, const Tensor& out) {
  Gemm g;
  g.dtype = out.dtype();
  g.m = a.owner.size(-2);
  g.n = b.owner.size(-1);
  g.k = a.owner.size(-1);
  g.a = a.matrix;
  g.b = b.matrix;
  g.out = out.raw_data();
  g.ld_out = std::max<int64_t>(g.n, 1);
  return g;
}

[[noreturn]] void fail_no_algorithm(std::string_view op, const Gemm& g) {
  fail(op, "cuBLASLt has no algorithm for {} with m {}, n {}, k {}", name(g.dtype), g.m, g.n, g.k);
}

LaunchCost gemm_cost(const Tensor& a, const Tensor& b, const Tensor& out, int64_t k) {
  return {stored_bytes(a) + stored_bytes(b) + out.size_bytes(), 2 * out.numel() * k};
}

bool try_bias(Gemm g, const Tensor& self, const Tensor& a, const Tensor& b, const Tensor& out) {
  g.bias = self.raw_data();
  bool done = false;
  run_launch(
      [&] {
        LaunchCost cost = gemm_cost(a, b, out, g.k);
        cost.bytes += stored_bytes(self);
        cost.flops += out.numel();
        return cost;
      },
      [&] { done = try_gemm(g, out.device().index); });
  return done;
}

// out = alpha a @ b + beta c. Reads c in place if its strides allow, otherwise copies it into out
// first.
void add_matrix(Gemm g, const Tensor& self, const Dims& strides, const Tensor& a, const Tensor& b,
                const Tensor& out) {
  const bool in_place = addend_of(strides, g.beta, g) == Addend::kMatrix;
  if (!in_place) copy_(out, self);
  g.c = in_place ? self.raw_data() : out.raw_data();
  g.ld_c = in_place ? std::max(strides[0], g.n) : g.ld_out;
  bool done = false;
  run_launch(
      [&] {
        LaunchCost cost = gemm_cost(a, b, out, g.k);
        cost.bytes += in_place ? stored_bytes(self) : out.size_bytes();
        cost.flops += out.numel();
        return cost;
      },
      [&] { done = try_gemm(g, out.device().index); });
  if (!done) fail_no_algorithm("addmm", g);
}

void multiply(std::string_view op, const Gemm& g, const Tensor& a, const Tensor& b,
              const Tensor& out) {
  bool done = false;
  run_launch([&] { return gemm_cost(a, b, out, g.k); },
             [&] { done = try_gemm(g, out.device().index); });
  if (!done) fail_no_algorithm(op, g);
}

void fill_zero(const Tensor& out) {
  device_memory(out.device()).zero(out.device(), out.raw_data(), out.size_bytes());
}

}  // namespace

void mm(Args args, const Tensor& out) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  if (a.size(1) == 0) return fill_zero(out);
  const Readable left = readable(a);
  const Readable right = readable(b);
  multiply("mm", gemm_of(left, right, out), a, b, out);
}

namespace {

// Runs bias and activation in the GEMM's epilogue. Returns false without launching if that is not
// possible.
bool try_activation(Args args, const Tensor& out) {
  const Tensor& self = args.tensor(0);
  const Tensor& a = args.tensor(1);
  const Tensor& b = args.tensor(2);
  Gemm sizes;
  sizes.dtype = out.dtype();
  sizes.n = out.size(1);
  sizes.k = a.size(1);
  sizes.activation = args[5].flag() ? Activation::kGeluTanh : Activation::kRelu;
  const Dims strides = broadcast_strides("_addmm_activation", self.layout(), out.shape());
  const bool fits = sizes.k > 0 && is_exact(sizes.activation, sizes.dtype) &&
                    addend_of(strides, args[3].number(), sizes) == Addend::kBias &&
                    is_aligned_bias(self.raw_data());
  if (!fits) return false;
  const Readable left = readable(a);
  const Readable right = readable(b);
  Gemm g = gemm_of(left, right, out);
  g.alpha = args[4].number();
  g.activation = sizes.activation;
  return try_bias(g, self, a, b, out);
}

}  // namespace

void addmm(Args args, const Tensor& out) {
  const Tensor& self = args.tensor(0);
  const Tensor& a = args.tensor(1);
  const Tensor& b = args.tensor(2);
  const double beta = args[3].number();
  if (a.size(1) == 0) {  // the GEMM is zero: out = beta * self
    beta == 0 ? fill_zero(out) : static_cast<void>(copy_(out, epi::mul(self, beta)));
    return;
  }
  const Readable left = readable(a);
  const Readable right = readable(b);
  Gemm g = gemm_of(left, right, out);
  g.alpha = args[4].number();
  if (beta == 0) return multiply("addmm", g, a, b, out);
  const Dims strides = broadcast_strides("addmm", self.layout(), out.shape());
  const bool is_bias = addend_of(strides, beta, g) == Addend::kBias;
  if (is_bias && is_aligned_bias(self.raw_data()) && try_bias(g, self, a, b, out)) return;
  g.beta = beta;
  add_matrix(g, self, strides, a, b, out);
}

void addmm_activation(Args args, const Tensor& out) {
  if (try_activation(args, out)) return;
  addmm(args, out);
  const Arg in_place[] = {out, "tanh"};
  run_pointwise(args[5].flag() ? Op::kGelu : Op::kRelu, Args(in_place), out);
}

void bmm(Args args, const Tensor& out) {
  const Tensor a = readable_batch(args.tensor(0));
  const Tensor b = readable_batch(args.tensor(1));
  if (a.size(2) == 0) return fill_zero(out);
  if (a.size(0) > std::numeric_limits<int32_t>::max()) {
    fail("bmm", "batch size {} exceeds cuBLASLt's limit of 2^31 - 1", a.size(0));
  }
  Gemm g = gemm_of(readable(first_matrix(a)), readable(first_matrix(b)), out);
  g.batch = a.size(0);
  g.stride_a = a.stride(0);
  g.stride_b = b.stride(0);
  g.stride_out = g.m * g.n;
  multiply("bmm", g, args.tensor(0), args.tensor(1), out);
}

}  // namespace epi::cuda
