// SPDX-License-Identifier: Apache-2.0
// GEMMs with int8 weights.
#include <fmt/format.h>

#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/int8_groups.h"
#include "epilogue/ops/results.h"

namespace epi {
namespace {

void check_int8(std::string_view op, const Tensor& x, const Tensor& mat2, const Tensor& scale,
                const Tensor& bias) {
  check_floating(op, x);
  if (x.dtype() == DType::kF64) fail(op, "the input must be f32, bf16 or f16, not f64");
  if (mat2.dtype() != DType::kI8) fail(op, "the weight must be i8, not {}", name(mat2.dtype()));
  if (mat2.device().type == DeviceType::kCuda) fail(op, "int8 weights run on the CPU only");
  check_same_device(op, x, mat2);
  check_floating(op, scale);
  check_same_device(op, x, scale);
  check_rank(op, scale, 2);
  const int64_t n = mat2.size(1);
  const int64_t k = mat2.size(0);
  const int64_t groups = int8_groups(k);
  if (scale.size(0) != n || (scale.size(1) != 1 && scale.size(1) != groups)) {
    fail(op, "the scale is {}, expected [{}, 1]{} for a weight of {} rows of {} elements",
         to_string(scale.shape()), n, groups > 1 ? fmt::format(" or [{}, {}]", n, groups) : "", n,
         k);
  }
  if (!bias.defined()) return;
  check_same_kind(op, x, bias);
  if (bias.dim() != 1 || bias.size(0) != n) {
    fail(op, "the bias is {}, expected [{}]", to_string(bias.shape()), n);
  }
}

}  // namespace

Tensor int8_linear(const Tensor& x, const Tensor& weight, const Tensor& scale, const Tensor& bias,
                   bool int8_input) {
  constexpr auto kName = "int8_linear";
  check_rank(kName, weight, 2);
  check_defined(kName, x);
  if (x.dim() == 0) fail(kName, "the input must have at least one dimension");
  if (x.size(-1) != weight.size(1)) {
    fail(kName, "inner sizes differ: the input is {}, the weight {}", to_string(x.shape()),
         to_string(weight.shape()));
  }
  return dispatch(Op::kInt8Linear, {x, weight, scale, bias, int8_input});
}

Tensor int8_mm(const Tensor& x, const Tensor& mat2, const Tensor& scale, const Tensor& bias,
               bool int8_input) {
  constexpr auto kName = "int8_mm";
  check_rank(kName, x, 2);
  check_rank(kName, mat2, 2);
  check_int8(kName, x, mat2, scale, bias);
  if (x.size(1) != mat2.size(0)) {
    fail(kName, "inner sizes differ: the first matrix is {}, the second {}", to_string(x.shape()),
         to_string(mat2.shape()));
  }
  return dispatch(Op::kInt8Mm, {x, mat2, scale, bias, int8_input});
}

namespace results {

Tensor int8_linear(Args args) {
  const Tensor& x = args.tensor(0);
  const Tensor& weight = args.tensor(1);
  const Tensor bias = args.optional_tensor(3);
  const Tensor transposed = epi::t(weight);  // separate statements fix the order in a trace
  const bool int8_input = args[4].flag();
  if (x.dim() == 2) return epi::int8_mm(x, transposed, args.tensor(2), bias, int8_input);
  Dims shape(x.shape().span().first(static_cast<size_t>(x.dim() - 1)));
  const Tensor rows = epi::reshape(x, {numel(shape), x.size(-1)});
  shape.push_back(weight.size(0));
  return epi::_unsafe_view(epi::int8_mm(rows, transposed, args.tensor(2), bias, int8_input), shape);
}

}  // namespace results
}  // namespace epi
