// SPDX-License-Identifier: Apache-2.0
// epi::cuda::pointwise<epi::cuda::GeluTanh<__nv_bfloat16>, 8>: the kernels of Epilogue's CUDA
// backend. A loop, its function with the element types, and the vector width.
#include <charconv>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"
#include "epilogue/pointwise/table.h"

namespace epi::analysis::names {
namespace {

struct Loop {
  std::string_view base;
  Kind kind;
  size_t width_arg;  // index of the template argument with the width
};
constexpr Loop kLoops[] = {{"pointwise", Kind::kPointwise, 1},
                           {"pointwise_tiled", Kind::kPointwise, 9},
                           {"rows", Kind::kNorm, 3},
                           {"causal_rows", Kind::kSoftmax, 9},
                           {"rank_rows", Kind::kSort, 9},
                           {"read_by_index", Kind::kGather, 3},
                           {"choose", Kind::kPointwise, 2},
                           {"reduce_rows", Kind::kReduction, 1},
                           {"reduce_columns", Kind::kReduction, 9},
                           {"reduce_parts", Kind::kReduction, 9}};

std::string op_of(std::string_view function) {
  if (function == "Max") return "amax";
  if (function == "Copy" || function == "Convert") return "copy_";
  if (function == "SafeSoftmax") return "_safe_softmax";
  std::string name = snake_case(function);
  for (const pointwise::FunctionInfo& info : pointwise::kFunctions) {
    if (info.name == name) return std::string(info.op);  // "gelu" for "gelu_tanh"
  }
  return name;
}

void read_function(std::string_view text, DecodedName& out) {
  const CppName function = read_cpp_name(text);
  constexpr std::string_view kScalar = "Scalar";
  std::string_view base = function.base;
  if (base.ends_with(kScalar)) base.remove_suffix(kScalar.size());
  out.ops.push_back(op_of(base));
  out.dtype = out.output = cpp_type(function.arg(0));
  if (base == "Convert") out.output = cpp_type(function.arg(1));
  if (out.ops.back() == "copy_") out.kind = Kind::kCopy;
}

}  // namespace

bool read_own_cuda(std::string_view /*name*/, const CppName& cpp, DecodedName& out) {
  if (cpp.scope != "epi::cuda") return false;
  const Loop* loop = nullptr;
  for (const Loop& known : kLoops) {
    if (known.base == cpp.base) loop = &known;
  }
  if (loop == nullptr) return false;
  out.library = Library::kEpilogue;
  out.kind = loop->kind;
  read_function(cpp.arg(0), out);
  if (cpp.base == "rows" || cpp.base == "causal_rows") {  // the type is a separate argument
    out.dtype = out.output = cpp_type(cpp.arg(1));
    if (out.ops.back().ends_with("softmax")) out.kind = Kind::kSoftmax;
  }
  const std::string_view width = cpp.arg(loop->width_arg);
  std::from_chars(width.data(), width.data() + width.size(), out.vector_width);
  return true;
}

}  // namespace epi::analysis::names
