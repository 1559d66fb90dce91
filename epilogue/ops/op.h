// SPDX-License-Identifier: Apache-2.0
// The operator table: one row per operator, with ATen's name, or a name in "epilogue::" if ATen has
// no such operator. The kind of an operator determines how the dispatcher handles it:
//   view       computes another layout of its input's storage and launches nothing;
//   composite  is written in terms of other operators;
//   compute    allocates its output here, and a backend's kernel fills it.
#pragma once

#include <cstdint>
#include <string_view>

#include "epilogue/ops/args.h"
#include "epilogue/tensor/tensor.h"

namespace epi {

enum class Op : uint16_t {
  // views
  kAsStrided,
  kExpand,
  kFlatten,
  kNarrow,
  kPermute,
  kReshape,
  kSelect,
  kSlice,
  kSqueeze,
  kT,
  kTranspose,
  kUnsafeView,
  kUnsqueeze,
  kView,
  // copies
  kClone,
  kContiguous,
  kCopy_,
  kTo,
  // GEMMs
  kAddmm,
  kAddmmActivation,
  kBmm,
  kInt8Linear,
  kInt8Mm,
  kLinear,
  kMatmul,
  kMm,
// pointwise
#define EPI_POINTWISE(Name, ...) k##Name,
#include "epilogue/pointwise/operators.def"
  // rows
  kAmax,
  kArgmax,
  kCat,
  kCausalSoftmax,
  kLayerNorm,
  kMean,
  kRmsNorm,
  kSafeSoftmax,
  kSoftmax,
  kSum,
  kTopk,
  // indices and masks
  kEmbedding,
  kGather,
  kIndexSelect,
  kWhere,
  // attention
  kScaledDotProductAttention,
};
inline constexpr int kOpCount = static_cast<int>(Op::kScaledDotProductAttention) + 1;

enum class OpKind : uint8_t { kView, kComposite, kCompute };

struct OpInfo {
  Op op;
  std::string_view name;  // "aten::mm"
  OpKind kind;
  // Returns the view, the composite's value, or the output for the kernel to fill. Null for
  // custom operators (custom_op.h).
  Tensor (*result)(Args args);
};

const OpInfo& op_info(Op op);
// The name without its namespace: "mm".
inline std::string_view short_name(const OpInfo& info) {
  return info.name.substr(info.name.find("::") + 2);
}

namespace detail {
inline constexpr size_t kMaxCustomOps = 4096;
const OpInfo& custom_op_info(Op op);
}  // namespace detail

}  // namespace epi
