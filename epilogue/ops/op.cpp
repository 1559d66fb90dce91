// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/op.h"

#include <array>

#include "epilogue/ops/results.h"

namespace epi {
namespace {

constexpr OpKind kView = OpKind::kView;
constexpr OpKind kComposite = OpKind::kComposite;
constexpr OpKind kCompute = OpKind::kCompute;

// In the order of the enumerators, which `op_info` uses as the index.
constexpr std::array<OpInfo, kOpCount> kTable = {{
    {Op::kAsStrided, "aten::as_strided", kView, results::as_strided},
    {Op::kExpand, "aten::expand", kView, results::expand},
    {Op::kFlatten, "aten::flatten", kComposite, results::flatten},
    {Op::kNarrow, "aten::narrow", kView, results::narrow},
    {Op::kPermute, "aten::permute", kView, results::permute},
    {Op::kReshape, "aten::reshape", kComposite, results::reshape},
    {Op::kSelect, "aten::select", kView, results::select},
    {Op::kSlice, "aten::slice", kView, results::slice},
    {Op::kSqueeze, "aten::squeeze", kView, results::squeeze},
    {Op::kT, "aten::t", kView, results::t},
    {Op::kTranspose, "aten::transpose", kView, results::transpose},
    {Op::kUnsafeView, "aten::_unsafe_view", kView, results::unsafe_view},
    {Op::kUnsqueeze, "aten::unsqueeze", kView, results::unsqueeze},
    {Op::kView, "aten::view", kView, results::view},
    {Op::kClone, "aten::clone", kComposite, results::clone},
    {Op::kContiguous, "aten::contiguous", kComposite, results::contiguous},
    {Op::kCopy_, "aten::copy_", kCompute, results::copy_},
    {Op::kTo, "aten::to", kComposite, results::to},
    {Op::kAddmm, "aten::addmm", kCompute, results::addmm},
    {Op::kAddmmActivation, "aten::_addmm_activation", kCompute, results::addmm},
    {Op::kBmm, "aten::bmm", kCompute, results::bmm},
    {Op::kInt8Linear, "epilogue::int8_linear", kComposite, results::int8_linear},
    {Op::kInt8Mm, "epilogue::int8_mm", kCompute, results::mm},
    {Op::kLinear, "aten::linear", kComposite, results::linear},
    {Op::kMatmul, "aten::matmul", kComposite, results::matmul},
    {Op::kMm, "aten::mm", kCompute, results::mm},
#define EPI_POINTWISE(Name, function, ...) \
  {Op::k##Name, "aten::" #function, kCompute, results::pointwise},
#include "epilogue/pointwise/operators.def"
    {Op::kAmax, "aten::amax", kCompute, results::reduced},
    {Op::kArgmax, "aten::argmax", kCompute, results::argmax},
    {Op::kCat, "aten::cat", kCompute, results::cat},
    {Op::kCausalSoftmax, "epilogue::causal_softmax", kCompute, results::like_input},
    {Op::kLayerNorm, "aten::layer_norm", kCompute, results::like_input},
    {Op::kMean, "aten::mean", kCompute, results::reduced},
    {Op::kRmsNorm, "aten::rms_norm", kCompute, results::like_input},
    {Op::kSafeSoftmax, "aten::_safe_softmax", kCompute, results::like_input},
    {Op::kSoftmax, "aten::softmax", kCompute, results::like_input},
    {Op::kSum, "aten::sum", kCompute, results::summed},
    {Op::kTopk, "aten::topk", kCompute, results::topk},
    {Op::kEmbedding, "aten::embedding", kComposite, results::embedding},
    {Op::kGather, "aten::gather", kCompute, results::gather},
    {Op::kIndexSelect, "aten::index_select", kCompute, results::index_select},
    {Op::kWhere, "aten::where", kCompute, results::where},
    {Op::kScaledDotProductAttention, "aten::scaled_dot_product_attention", kComposite,
     results::scaled_dot_product_attention},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].op) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the rows must follow the order of the enumerators");

}  // namespace

const OpInfo& op_info(Op op) {
  const auto index = static_cast<size_t>(op);
  return index < kTable.size() ? kTable[index] : detail::custom_op_info(op);
}

}  // namespace epi
