// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/passes/custom_gemms.h"

#include <fmt/format.h>

#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/cuda/gemm.h"

namespace epi::compiler {

bool is_linear(const Graph& graph, const Node& gemm) {
  if (!is_weight_gemm(graph, gemm)) return false;
  const Node& weight = graph[weights_of(gemm).id];
  const View view = view_of(graph, weights_of(gemm));
  return weights_of(gemm).view && weight.shape.size() == 2 &&
         weight.strides == row_major(weight.shape) &&
         view.shape == SymDims{weight.shape[1], weight.shape[0]} &&
         view.strides == SymDims{SymSize(1), weight.shape[1]} && view.offset == SymSize(0);
}

namespace {

std::string why_not_hopper(const Graph& graph, const Node& gemm) {
  constexpr int64_t kAlignment = 16;  // of rows in bytes, required by TMA
  if (gemm.dtype != DType::kBF16 && gemm.dtype != DType::kF16) {
    return fmt::format("custom kernels support bf16 and f16, not {}", name(gemm.dtype));
  }
  if (!is_linear(graph, gemm)) return "its weight is not a row-major [n, k] parameter";
  const Node& weight = graph[weights_of(gemm).id];
  const int64_t per_vector = kAlignment / size_bytes(gemm.dtype);
  for (const SymSize& size : weight.shape) {
    if (size.number() > kMaxRows) return fmt::format("{} is too large", size.number());
    if (size.number() % per_vector != 0) {
      return fmt::format("{} is not a multiple of {}", size.number(), per_vector);
    }
  }
  if (reinterpret_cast<uintptr_t>(weight.parameter.raw_data()) % kAlignment != 0) {
    return fmt::format("its weight is not aligned to {} bytes", kAlignment);
  }
  const View rows = view_of(graph, rows_of(gemm));
  if (rows.strides[1] != SymSize(1)) return "its rows are not dense";
  const bool overlap =
      rows.strides[0].is_static() && rows.strides[0].number() < weight.shape[1].number();
  return overlap ? "its rows overlap" : "";
}

}  // namespace

std::string why_library_gemm(const Graph& graph, const Node& gemm, CustomGemms custom) {
  if (custom == CustomGemms::kNone) return "there is no custom kernel for this GPU";
  if (gemm.replaced) return "another kernel was registered for it";
  if (!is_weight_gemm(graph, gemm)) return "its weights are not known at compile time";
  return custom == CustomGemms::kHopper ? why_not_hopper(graph, gemm) : "";
}

bool adds_bias(const Graph& graph, const Node& addmm) {
  const View added = view_of(graph, std::get<ValueRef>(addmm.operands[0]));
  const SymSize& n = addmm.shape[1];
  const SymSize k = view_of(graph, rows_of(addmm)).shape[1];
  const bool is_row =
      added.shape.size() == 1 || (added.shape.size() == 2 && added.shape[0] == SymSize(1));
  if (!is_row || added.shape.back() != n || added.strides.back() != SymSize(1)) return false;
  const auto* beta = std::get_if<SymSize>(&addmm.operands[3]);
  if (beta != nullptr && !beta->is_static()) return false;
  cuda::Gemm gemm;
  gemm.dtype = addmm.dtype;
  gemm.n = n.is_static() ? n.number() : 1;
  gemm.k = k.is_static() ? k.number() : 1;
  return cuda::addend_of({0, 1}, number_in(addmm.operands[3]), gemm) == cuda::Addend::kBias;
}

}  // namespace epi::compiler
