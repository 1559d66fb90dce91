// SPDX-License-Identifier: Apache-2.0
// ATen's kernels: one template per loop shape, with the applied function as an argument.
//   void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::Half>, ...>
// The first number of a vectorized kernel is its width. Types are those of the functor.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

bool is_element(NumberType type) {
  return type != NumberType::kUnknown && type != NumberType::kBool;
}

// Wrappers that do not identify the operator. The wrapped functor is their first or last argument.
bool wraps_first(std::string_view base) {
  return base.starts_with("gpu_kernel") || base == "func_wrapper_t";
}
bool wraps_last(std::string_view base) {
  return base == "BinaryFunctor" || base == "AUnaryFunctor" || base == "BUnaryFunctor";
}

// sum_functor<T, compute, out>, BinaryFunctor<A, B, out, F>, CUDAFunctor_add<T>.
struct Types {
  NumberType dtype = NumberType::kUnknown;
  NumberType accumulate = NumberType::kUnknown;
  NumberType output = NumberType::kUnknown;
};

struct Functor {
  std::string_view text;   // "GeluCUDAKernelImpl"
  std::string_view outer;  // its outermost wrapper: "gpu_kernel_impl_nocast"
  Types types;
};

// The type of the last lambda's first parameter.
NumberType lambda_type(std::string_view text) {
  const std::string_view params = last_lambda_params(text);
  const std::string_view first = params.substr(0, params.find(','));
  const NumberType type = cpp_type(first);
  return is_element(type) ? type : NumberType::kUnknown;
}

Functor read_functor(std::string_view text) {
  Functor functor;
  Types types;
  CppName read = read_cpp_name(text);
  functor.outer = read.base;
  for (int depth = 0; depth < 6; ++depth) {
    if (wraps_first(read.base) && read.arg_count > 0) {
      const bool typed = read.base == "func_wrapper_t";
      if (typed) types.output = cpp_type(read.arg(0));
      text = read.arg(typed ? 1 : 0);
    } else if (wraps_last(read.base) && read.arg_count > 0) {
      if (read.arg_count > 3) {  // older versions give only the functor
        types.dtype = cpp_type(read.arg(0));
        types.output = cpp_type(read.arg(2));
      }
      text = read.arg(read.arg_count - 1);
    } else {
      break;
    }
    read = read_cpp_name(text);
  }
  functor.text = read.base;
  const NumberType own =
      is_element(cpp_type(read.arg(0))) ? cpp_type(read.arg(0)) : lambda_type(text);
  if (is_element(types.dtype)) {
    types.accumulate = own;
  } else if (contains(text, "lambda")) {
    types.dtype = own;
  } else {
    types.dtype = own;
    const bool compares = read.base.starts_with("Compare");  // the result is a bool
    if (types.output == NumberType::kUnknown && !compares) types.output = own;
    types.accumulate = cpp_type(read.arg(1));
  }
  functor.types = types;
  return functor;
}

void set_functor(const Functor& functor, DecodedName& out) {
  out.functor = functor.text;
  std::string op = op_of_functor(functor.text);
  if (!op.empty()) out.ops.push_back(std::move(op));
}

// Kernels that convert on load and store do not name the types in memory.
void set_types(const Types& types, bool converts, DecodedName& out) {
  if (converts) {
    out.accumulate = types.accumulate != NumberType::kUnknown ? types.accumulate : types.dtype;
    return;
  }
  out.dtype = types.dtype;
  out.accumulate = types.accumulate;
  out.output = types.output;
}

void read_elementwise(const CppName& cpp, DecodedName& out) {
  out.kind = Kind::kPointwise;
  bool converts = false;
  std::string_view functor;
  for (size_t i = 0; i < cpp.arg_count; ++i) {
    const std::string_view arg = cpp.arg(i);
    if (contains(arg, "WithCast")) converts = true;
    const bool value = number(arg) || arg == "int" || arg == "unsigned int" || arg == "long";
    if (functor.empty() && !value) functor = arg;
  }
  if (cpp.base.starts_with("vectorized")) out.vector_width = number(cpp.arg(0)).value_or(0);
  if (functor.empty()) return;
  const Functor read = read_functor(functor);
  set_functor(read, out);
  // The lambdas of these take an index.
  const bool indexed = cpp.base == "elementwise_kernel_with_index" || cpp.base.starts_with("index");
  // gpu_kernel_impl may convert even without the cast classes. Only its _nocast form never does.
  if (!indexed) set_types(read.types, converts || read.outer == "gpu_kernel_impl", out);
  if (contains(read.text, "copy_kernel")) {
    out.kind = Kind::kCopy;
    if (read.text.starts_with("bfloat16_")) out.output = NumberType::kBf16;
    if (read.text.starts_with("float16_")) out.output = NumberType::kF16;
  }
  if (cpp.base.starts_with("index") || contains(read.text, "index") ||
      contains(read.text, "gather") || contains(read.text, "scatter")) {
    out.kind = Kind::kGather;
  }
}

// reduce_kernel<threads, outputs, ReduceOp<T, ops, index, out, vt0, input vector>>.
void read_reduce(const CppName& cpp, DecodedName& out) {
  out.kind = Kind::kReduction;
  const CppName reduce = read_cpp_name(cpp.arg(2));
  if (reduce.base != "ReduceOp") return;
  const Functor functor = read_functor(reduce.arg(1));
  set_functor(functor, out);
  out.dtype = cpp_type(reduce.arg(0));
  out.output = cpp_type(reduce.arg(3));
  out.accumulate = functor.types.accumulate;
  out.vector_width = number(reduce.arg(5)).value_or(0);
}

// multi_tensor_apply_kernel<lists, functor<T, ...>, op, ...>: operators over lists of tensors.
void read_foreach(const CppName& cpp, DecodedName& out) {
  const CppName functor = read_cpp_name(cpp.arg(1));
  out.functor = functor.base;
  out.dtype = cpp_type(functor.arg(0));
  for (const std::string_view optimizer : {"Adam", "Sgd", "Adagrad", "Lamb"}) {
    if (!contains(functor.base, optimizer)) continue;
    out.kind = Kind::kOptimizer;
    std::string op = std::string("_fused_").append(optimizer);
    std::transform(op.begin(), op.end(), op.begin(),
                   [](char c) { return c == '_' || c >= 'a' ? c : static_cast<char>(c + 32); });
    out.ops.push_back(std::move(op));
    return;
  }
  // The operation is a separate argument, or the functor itself.
  const bool applies = !cpp.arg(2).empty() && !cpp.arg(2).ends_with('*') &&
                       cpp_type(cpp.arg(2)) == NumberType::kUnknown;
  std::string op = op_of_functor(applies ? read_cpp_name(cpp.arg(2)).base : functor.base);
  if (functor.base.starts_with("PointwiseOp")) op = "addc" + op;
  out.kind = op == "copy" ? Kind::kCopy : op == "norm" ? Kind::kReduction : Kind::kPointwise;
  out.ops.push_back("_foreach_" + op);
}

void read_softmax(const CppName& cpp, DecodedName& out) {
  out.kind = Kind::kSoftmax;
  const size_t at = number(cpp.arg(0)) ? 1 : 0;
  const bool warp =
      cpp.base.starts_with("softmax_warp");  // in, out, compute; others in, compute, out
  out.dtype = cpp_type(cpp.arg(at));
  out.output = cpp_type(cpp.arg(at + (warp ? 1 : 2)));
  out.accumulate = cpp_type(cpp.arg(at + (warp ? 2 : 1)));
  const bool log = warp ? cpp.arg(at + 4) == "true" : contains(cpp.arg(at + 3), "LogSoftMax");
  const bool backward = contains(cpp.base, "ackward");
  out.ops.emplace_back(log ? (backward ? "_log_softmax_backward_data" : "_log_softmax")
                           : (backward ? "_softmax_backward_data" : "_softmax"));
}

void read_norm(const CppName& cpp, DecodedName& out) {
  out.kind = Kind::kNorm;
  for (size_t i = 0; i < cpp.arg_count && out.dtype == NumberType::kUnknown; ++i) {
    if (is_element(cpp_type(cpp.arg(i)))) out.dtype = cpp_type(cpp.arg(i));
  }
  if (cpp.base != "vectorized_layer_norm_kernel") return;
  out.accumulate = cpp_type(cpp.arg(1));
  out.ops.emplace_back(cpp.arg(2) == "true" ? "rms_norm" : "native_layer_norm");
}

void read_cat(const CppName& cpp, DecodedName& out) {
  out.kind = Kind::kCopy;
  out.ops.emplace_back("cat");
  out.dtype = out.output = cpp_type(cpp.arg(0));  // newer versions hide it: OpaqueType<2u>
  if (contains(cpp.base, "vectorized")) out.vector_width = number(cpp.arg(6)).value_or(0);
}

// All other kernels: the kind from the function's name, and the first floating-point type.
void read_other(const CppName& cpp, DecodedName& out) {
  read_plain_words(cpp.base, out);
  size_t at = 0;
  while (at < cpp.arg_count &&
         number(cpp.arg(at).starts_with('-') ? cpp.arg(at).substr(1) : cpp.arg(at)))
    ++at;
  while (at < cpp.arg_count && !is_element(cpp_type(cpp.arg(at))) && cpp.arg(at) != "bool") ++at;
  const NumberType type = cpp_type(cpp.arg(at));
  const bool index = type == NumberType::kS32 || type == NumberType::kS64;
  if (!index && is_element(type)) out.dtype = type;
  if (contains(cpp.base, "dropout")) {
    out.ops.emplace_back("native_dropout");
    out.accumulate = cpp_type(cpp.arg(1));
    if (cpp.base.ends_with("_vec")) out.vector_width = number(cpp.arg(4)).value_or(0);
  }
  if (contains(cpp.base, "scan_innermost") || contains(cpp.base, "scan_outer")) {
    out.ops.emplace_back(contains(cpp.arg(1), "multiplies") ? "cumprod" : "cumsum");
  }
  if (cpp.base.starts_with("distribution")) out.kind = Kind::kRandom;
}

}  // namespace

bool read_aten(std::string_view /*name*/, const CppName& cpp, DecodedName& out) {
  if (is_cub(cpp)) return false;  // CUB inside at::cuda
  if (cpp.base == "multi_tensor_apply_kernel" && cpp.scope.empty()) {
    read_foreach(cpp, out);  // Apex's, whose library is not known here
    return true;
  }
  const bool scoped =
      cpp.scope == "at" || cpp.scope.starts_with("at::") || cpp.scope.starts_with("c10::");
  const bool anonymous = cpp.scope == "(anonymous namespace)";
  const bool known =
      contains(cpp.base, "elementwise_kernel") || cpp.base.starts_with("softmax_warp");
  if (!scoped && !(anonymous && known)) return false;
  out.library = Library::kAten;
  const bool random = cpp.base.starts_with("distribution");
  if (!random && contains(cpp.base, "elementwise_kernel")) {
    read_elementwise(cpp, out);
  } else if (cpp.base == "reduce_kernel") {
    read_reduce(cpp, out);
  } else if (cpp.base == "multi_tensor_apply_kernel") {
    read_foreach(cpp, out);
  } else if (cpp.base.starts_with("softmax_warp") || cpp.base.starts_with("cunn_SoftMax")) {
    read_softmax(cpp, out);
  } else if (contains(cpp.base, "layer_norm") || contains(cpp.base, "batch_norm")) {
    read_norm(cpp, out);
  } else if (cpp.base.starts_with("CatArray")) {
    read_cat(cpp, out);
  } else {
    read_other(cpp, out);
  }
  return true;
}

}  // namespace epi::analysis::names
