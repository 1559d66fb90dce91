// SPDX-License-Identifier: Apache-2.0
// cuBLAS kernels that are C++ functions: GEMVs, split-K reductions, stand-alone epilogues, small
// GEMMs.
#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// The index of the first run of `wanted` consecutive element types among the template arguments.
// Index types (int, long) do not count. arg_count if there is no such run.
size_t find_type_run(const CppName& cpp, size_t wanted) {
  const auto is_element = [&](size_t at) {
    const NumberType type = cpp_type(cpp.arg(at));
    return type != NumberType::kUnknown && type != NumberType::kS32 && type != NumberType::kS64 &&
           type != NumberType::kBool;
  };
  size_t run = 0;
  for (size_t at = 0; at < cpp.arg_count; ++at) {
    run = is_element(at) ? run + 1 : 0;
    if (run == wanted) return at + 1 - wanted;
  }
  return cpp.arg_count;
}

// gemv2T_kernel_val<int, int, A, x, y, compute, ...>.
void read_gemv_types(const CppName& cpp, DecodedName& out) {
  const size_t at = find_type_run(cpp, 4);
  if (at == cpp.arg_count) return;
  out.dtype = cpp_type(cpp.arg(at));
  out.output = cpp_type(cpp.arg(at + 2));
  out.accumulate = cpp_type(cpp.arg(at + 3));
}

// splitKreduce_kernel<32, 16, int, partial sums, C, compute, result, ...>. Older versions have
// three types, and the result has C's type.
void read_split_k_types(const CppName& cpp, DecodedName& out) {
  const size_t four = find_type_run(cpp, 4);
  const size_t at = four < cpp.arg_count ? four : find_type_run(cpp, 3);
  if (at == cpp.arg_count) return;
  out.dtype = cpp_type(cpp.arg(at));
  out.accumulate = cpp_type(cpp.arg(at + 2));
  out.output = cpp_type(cpp.arg(four < cpp.arg_count ? at + 3 : at + 1));
}

// The input type from "cublasGemvTensorStridedBatched<T const>" and the output type from the form
// without const.
void read_tensor_types(std::string_view name, DecodedName& out) {
  static constexpr std::string_view kTensor = "StridedBatched<";
  for (size_t at = name.find(kTensor); at != std::string_view::npos;
       at = name.find(kTensor, at + 1)) {
    const size_t begin = at + kTensor.size();
    const std::string_view type = name.substr(begin, name.find('>', begin) - begin);
    NumberType& field = type.ends_with("const") ? out.dtype : out.output;
    if (field == NumberType::kUnknown) field = cpp_type(type);
  }
}

// globalKernel<8, 32, T, T, T, ...>: set only if all three agree.
void read_epilogue_types(const CppName& cpp, DecodedName& out) {
  const size_t at = find_type_run(cpp, 3);
  if (at == cpp.arg_count) return;
  const NumberType type = cpp_type(cpp.arg(at));
  if (type != cpp_type(cpp.arg(at + 1)) || type != cpp_type(cpp.arg(at + 2))) return;
  out.dtype = out.accumulate = out.output = type;
}

// gemmSN_NN_kernel<float, ...>, sgemm_largek_lds64<...>, gemmk1_kernel<...>.
void read_gemm(const CppName& cpp, DecodedName& out) {
  Words words(cpp.base);
  while (const auto word = words.next()) {
    if (std::string order = layout(*word); !order.empty()) out.layout = std::move(order);
    if (const auto size = sizes(*word); size && out.tile[0] == 0) out.tile = size->values;
  }
  const size_t gemm = cpp.base.find("gemm");
  if (gemm == 1) {
    out.dtype = out.output = blas_type(cpp.base.front());
  } else if (const size_t at = find_type_run(cpp, 1); at < cpp.arg_count) {
    out.dtype = cpp_type(cpp.arg(at));
  }
}

}  // namespace

bool read_cublas_cpp(std::string_view name, const CppName& cpp, DecodedName& out) {
  const bool gemv = contains(cpp.base, "gemv") || contains(cpp.scope, "gemv");
  const bool gemm = cpp.base.starts_with("gemmSN") || cpp.base.starts_with("gemmk1") ||
                    cpp.base.starts_with("sgemm_") || cpp.base.starts_with("dgemm_") ||
                    cpp.base.starts_with("hgemm_");
  const bool split_k = contains(cpp.base, "splitKreduce");
  if (!gemv && !gemm && !split_k && !contains(name, "cublas")) return false;
  out.library = Library::kCublas;
  if (gemv) {
    out.kind = Kind::kGemv;
    read_gemv_types(cpp, out);
  } else if (split_k) {
    out.kind = Kind::kSplitKReduce;
    read_split_k_types(cpp, out);
  } else if (contains(cpp.scope, "epilogue")) {
    out.kind = Kind::kEpilogue;
    read_epilogue_types(cpp, out);
  } else if (gemm || contains(cpp.base, "gemm")) {
    out.kind = Kind::kGemm;
    read_gemm(cpp, out);
    read_tensor_types(name, out);
  } else if (cpp.base.starts_with("scal")) {
    out.kind = Kind::kPointwise;
    out.dtype = cpp_type(cpp.arg(0));
  } else if (cpp.base.starts_with("dot") || cpp.base.starts_with("reduce") ||
             cpp.base.starts_with("nrm2") || cpp.base.starts_with("asum")) {
    out.kind = Kind::kReduction;
    out.accumulate = cpp_type(cpp.arg(0));
    read_tensor_types(name, out);
  }
  return true;
}

}  // namespace epi::analysis::names
