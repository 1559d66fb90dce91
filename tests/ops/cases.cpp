// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/cases.h"

#include <cmath>

#include "epilogue/base/error.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/pointwise_call.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/layouts.h"
#include "tests/ops/pointwise_cases.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

using In = std::span<const Tensor>;
using Ref = std::span<const RefTensor>;

constexpr OpClass kExact = OpClass::kExact;
constexpr OpClass kGemm = OpClass::kGemm;
constexpr OpClass kReduction = OpClass::kReduction;
constexpr OpClass kAttention = OpClass::kAttention;

// The reference of samples that keep the elements and return the shape `size...`.
template <int64_t... size>
RefTensor as_shape(Ref x) {
  return ref::reshape(x[0], {size...});
}

RefTensor transposed(Ref x) { return ref::transpose(x[0], 0, 1); }
RefTensor middle(Ref x) { return ref::slice(x[0], 1, 1, 4); }
Tensor with_swapped_strides(In x) {
  return as_strided(x[0], {5, 3}, {x[0].stride(1), x[0].stride(0)});
}
Tensor copied_to_rows(In x) { return copy_(empty({3, 5}, {x[0].dtype(), x[0].device()}), x[0]); }

const Dims kBatches = {2, 3, 4, 5};
const Dims kPermuted = {1, 2, 0};
const Dims kOuter = {0, 2};
const Dims kRows = {3, 5};
const Dims kReshaped = {4, 15};
const Dims kSplit = {2, 3, 5};

const std::vector<OpCase> kViewCases = {
    {Op::kAsStrided, {{3, 5}}, kExact, with_swapped_strides, transposed},
    {Op::kExpand,
     {{3, 1, 5}},
     kExact,
     [](In x) { return expand(x[0], kBatches); },
     [](Ref x) { return ref::expand(x[0], kBatches); }},
    {Op::kFlatten, {{3, 5, 7}}, kExact, [](In x) { return flatten(x[0], 1, 2); }, as_shape<3, 35>},
    {Op::kNarrow, {{3, 5}}, kExact, [](In x) { return narrow(x[0], 1, 1, 3); }, middle},
    {Op::kPermute,
     {{3, 5, 7}},
     kExact,
     [](In x) { return permute(x[0], kPermuted); },
     [](Ref x) { return ref::permute(x[0], kPermuted); }},
    {Op::kReshape,
     {{6, 10}},
     kExact,
     [](In x) { return reshape(x[0], kReshaped); },
     as_shape<4, 15>},
    {Op::kSelect,
     {{3, 5}},
     kExact,
     [](In x) { return select(x[0], 1, 2); },
     [](Ref x) { return ref::select(x[0], 1, 2); }},
    {Op::kSlice, {{3, 5}}, kExact, [](In x) { return slice(x[0], 1, 1, 4); }, middle},
    {Op::kSqueeze, {{3, 1, 5}}, kExact, [](In x) { return squeeze(x[0]); }, as_shape<3, 5>},
    {Op::kSqueeze, {{1, 1, 5}}, kExact, [](In x) { return squeeze(x[0], 1); }, as_shape<1, 5>},
    {Op::kT, {{3, 5}}, kExact, [](In x) { return t(x[0]); }, transposed},
    {Op::kTranspose, {{3, 5}}, kExact, [](In x) { return transpose(x[0], 0, 1); }, transposed},
    {Op::kUnsafeView,
     {{6, 5}},
     kExact,
     [](In x) { return _unsafe_view(x[0], kSplit); },
     as_shape<2, 3, 5>},
    {Op::kUnsqueeze, {{3, 5}}, kExact, [](In x) { return unsqueeze(x[0], 1); }, as_shape<3, 1, 5>},
    {Op::kView, {{6, 5}}, kExact, [](In x) { return view(x[0], kSplit); }, as_shape<2, 3, 5>},
};

const std::vector<OpCase> kCopyCases = {
    {Op::kClone, {{3, 5}}, kExact, [](In x) { return clone(x[0]); }, as_shape<3, 5>},
    {Op::kContiguous, {{3, 5}}, kExact, [](In x) { return contiguous(x[0]); }, as_shape<3, 5>},
    {Op::kCopy_, {{5}}, kExact, copied_to_rows, [](Ref x) { return ref::expand(x[0], kRows); }},
    // f64 represents the values of every floating dtype exactly.
    {Op::kTo, {{3, 5}}, kExact, [](In x) { return to(x[0], DType::kF64); }, as_shape<3, 5>},
};

// A constant on the device of `x`.
Tensor constant(const Tensor& x, const RefTensor& values, DType dtype) {
  if (x.device() == kMeta) return empty(values.shape, {dtype, kMeta});
  return tensor_of(values.values, values.shape, dtype);
}

// int8_test.cpp tests quantized inputs and groups.
const RefTensor kInt8Weight = {{3, 5}, {-127, 3, 0, 90, 1, 77, -5, 127, 2, 2, 0, 0, -1, 64, -33}};
const RefTensor kInt8Scale = {{3, 1}, {0.5, 0.03125, 2}};
RefTensor scaled_weight() { return ref::mul(kInt8Weight, kInt8Scale); }
Tensor in_f32(const Tensor& x) { return x.dtype() == DType::kF64 ? to(x, DType::kF32) : x; }
Tensor multiplied_by_int8(In x) {
  return int8_mm(in_f32(x[0]), t(constant(x[0], kInt8Weight, DType::kI8)),
                 constant(x[0], kInt8Scale, DType::kF32), {}, false);
}
Tensor int8_layer(In x) {
  return int8_linear(in_f32(x[0]), constant(x[0], kInt8Weight, DType::kI8),
                     constant(x[0], kInt8Scale, DType::kF32), in_f32(x[1]), false);
}

const std::vector<OpCase> kGemmCases = {
    {Op::kAddmm,
     {{7}, {5, 9}, {9, 7}},
     kGemm,
     [](In x) { return addmm(x[0], x[1], x[2], 0.5, 2); },
     [](Ref x) { return ref::addmm(x[0], x[1], x[2], 0.5, 2); }},
    {Op::kAddmmActivation,
     {{7}, {5, 9}, {9, 7}},
     kGemm,
     [](In x) { return _addmm_activation(x[0], x[1], x[2], 0.5, 2); },
     [](Ref x) { return ref::addmm_activation(x[0], x[1], x[2], 0.5, 2, ref::relu); }},
    {Op::kBmm,
     {{3, 5, 9}, {3, 9, 7}},
     kGemm,
     [](In x) { return bmm(x[0], x[1]); },
     [](Ref x) { return ref::bmm(x[0], x[1]); }},
    {Op::kInt8Linear,
     {{2, 4, 5}, {3}},
     kGemm,
     int8_layer,
     [](Ref x) { return ref::linear(x[0], scaled_weight(), x[1]); }},
    {Op::kInt8Mm,
     {{4, 5}},
     kGemm,
     multiplied_by_int8,
     [](Ref x) { return ref::mm(x[0], ref::transpose(scaled_weight(), 0, 1)); }},
    {Op::kLinear,
     {{2, 5, 9}, {7, 9}, {7}},
     kGemm,
     [](In x) { return linear(x[0], x[1], x[2]); },
     [](Ref x) { return ref::linear(x[0], x[1], x[2]); }},
    {Op::kLinear,
     {{2, 5, 9}, {7, 9}},
     kGemm,
     [](In x) { return linear(x[0], x[1]); },
     [](Ref x) { return ref::linear(x[0], x[1]); }},
    {Op::kMatmul,
     {{2, 1, 5, 9}, {3, 9, 7}},
     kGemm,
     [](In x) { return matmul(x[0], x[1]); },
     [](Ref x) { return ref::matmul(x[0], x[1]); }},
    {Op::kMm,
     {{5, 9}, {9, 7}},
     kGemm,
     [](In x) { return mm(x[0], x[1]); },
     [](Ref x) { return ref::mm(x[0], x[1]); }},
};

// The operator that computes `function`.
Op op_of(Function function) {
  for (int i = 0; i < kOpCount; ++i) {
    if (pointwise_function(static_cast<Op>(i), pointwise::info(function).variant) == function) {
      return static_cast<Op>(i);
    }
  }
  throw BugError("no operator computes this pointwise function");
}

std::vector<OpCase> pointwise_cases() {
  std::vector<OpCase> cases;
  for (const UnaryCase& op : kUnaryCases) {
    cases.push_back({op_of(op.function),
                     {{3, 5}},
                     op.op_class,
                     [&op](In x) { return op.run(x[0]); },
                     [&op](Ref x) { return op.reference(x[0]); }});
  }
  for (const BinaryCase& op : kBinaryCases) {
    // Shapes that broadcast on the right, on both sides, and to a scalar.
    for (const auto& [left, right] :
         {std::pair<Dims, Dims>{{3, 5}, {5}}, {{3, 1}, {5}}, {{3, 5}, Dims{}}}) {
      cases.push_back({op_of(op.function),
                       {left, right},
                       op.op_class,
                       [&op](In x) { return op.run(x[0], x[1]); },
                       [&op](Ref x) { return op.reference(x[0], x[1]); }});
    }
  }
  return cases;
}

const std::vector<OpCase> kRowCases = {
    {Op::kAmax,
     {{3, 5}},
     kExact,
     [](In x) { return amax(x[0], {1}); },
     [](Ref x) { return ref::amax(x[0], {1}); }},
    {Op::kArgmax,
     {{3, 5}},
     kExact,
     [](In x) { return argmax(x[0], 1); },
     [](Ref x) { return ref::argmax(x[0], 1); }},
    {Op::kArgmax,
     {{3, 5}},
     kExact,
     [](In x) { return argmax(x[0]); },
     [](Ref x) { return ref::argmax(ref::reshape(x[0], {15}), 0); }},
    {Op::kCat,
     {{3, 5}, {3, 2}},
     kExact,
     [](In x) { return cat(x, 1); },
     [](Ref x) { return ref::cat(x, 1); }},
    {Op::kCausalSoftmax,
     {{2, 3, 5}},
     kReduction,
     [](In x) { return causal_softmax(x[0]); },
     [](Ref x) { return ref::causal_softmax(x[0]); }},
    {Op::kLayerNorm,
     {{3, 17}, {17}, {17}},
     kReduction,
     [](In x) { return layer_norm(x[0], {17}, x[1], x[2]); },
     [](Ref x) { return ref::layer_norm(x[0], 17, &x[1], &x[2], 1e-5); }},
    {Op::kMean,
     {{3, 5}},
     kReduction,
     [](In x) { return mean(x[0], {0}, true); },
     [](Ref x) { return ref::mean(x[0], {0}, true); }},
    {Op::kRmsNorm,
     {{3, 17}, {17}},
     kReduction,
     [](In x) { return rms_norm(x[0], {17}, x[1], 1e-3); },
     [](Ref x) { return ref::rms_norm(x[0], 17, &x[1], 1e-3); }},
    {Op::kSafeSoftmax,
     {{3, 5}},
     kReduction,
     [](In x) { return _safe_softmax(x[0], 1); },
     [](Ref x) { return ref::safe_softmax(x[0], 1); }},
    {Op::kSoftmax,
     {{3, 5}},
     kReduction,
     [](In x) { return softmax(x[0], 1); },
     [](Ref x) { return ref::softmax(x[0], 1); }},
    {Op::kSum,
     {{3, 5, 7}},
     kReduction,
     [](In x) { return sum(x[0], kOuter); },
     [](Ref x) { return ref::sum(x[0], kOuter); }},
    {Op::kTopk,
     {{3, 5}},
     kExact,
     [](In x) { return topk(x[0], 3).indices; },
     [](Ref x) { return ref::topk_indices(x[0], 3, 1); }},
};

const RefTensor kIndices = {{4}, {2, 0, 0, 1}};
const RefTensor kPairsOfIndices = {{2, 2}, {2, 0, 0, 1}};
const RefTensor kColumns = {{3, 2}, {4, 0, 1, 1, 2, 3}};
const RefTensor kMask = {{3, 1}, {1, 0, 1}};

const std::vector<OpCase> kIndexCases = {
    {Op::kEmbedding,
     {{3, 5}},
     kExact,
     [](In x) { return embedding(x[0], constant(x[0], kPairsOfIndices, DType::kI64)); },
     [](Ref x) {
       const RefTensor rows = ref::index_select(x[0], 0, kPairsOfIndices);
       return ref::reshape(rows, {2, 2, 5});
     }},
    {Op::kGather,
     {{3, 5}},
     kExact,
     [](In x) { return gather(x[0], 1, constant(x[0], kColumns, DType::kI64)); },
     [](Ref x) { return ref::gather_along(x[0], 1, kColumns); }},
    {Op::kIndexSelect,
     {{3, 5}},
     kExact,
     [](In x) { return index_select(x[0], 0, constant(x[0], kIndices, DType::kI32)); },
     [](Ref x) { return ref::index_select(x[0], 0, kIndices); }},
    {Op::kWhere,
     {{3, 5}, {5}},
     kExact,
     [](In x) { return where(constant(x[0], kMask, DType::kBool), x[0], x[1]); },
     [](Ref x) { return ref::where(kMask, x[0], x[1]); }},
    {Op::kScaledDotProductAttention,
     {{2, 4, 3, 5}, {2, 2, 7, 5}, {2, 2, 7, 6}},
     kAttention,
     [](In x) { return scaled_dot_product_attention(x[0], x[1], x[2], {}, false, 0.5, true); },
     [](Ref x) {
       return ref::attention(x[0], x[1], x[2], ref::expand(ref::scalar(0), {2, 4, 3, 7}), 0.5);
     }},
};

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all;
    for (const auto& group :
         {kViewCases, kCopyCases, kGemmCases, pointwise_cases(), kRowCases, kIndexCases}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    if (test_device() != kCpu) {
      std::erase_if(all, [](const OpCase& sample) { return is_cpu_only(sample.op); });
    }
    return all;
  }();
  return cases;
}

}  // namespace epi
