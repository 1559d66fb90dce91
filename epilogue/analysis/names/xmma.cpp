// SPDX-License-Identifier: Apache-2.0
// sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_...__5x_cublas:
// GEMMs and convolutions shared by cuBLAS, cuDNN and TensorRT. Types come in groups: A and result,
// operand and accumulator, epilogue.
#include <utility>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// Splits "tf32f32" into two types. kUnknown if the word is not two types.
std::pair<NumberType, NumberType> type_pair(std::string_view word) {
  constexpr size_t kMinLength = 2;  // "s8"
  constexpr size_t kMaxLength = 8;  // "bf16bf16", "e4m3bf16"
  const bool plausible =
      word.size() >= 2 * kMinLength && word.size() <= kMaxLength && is_digit(word.back());
  for (size_t at = kMinLength; plausible && at + kMinLength <= word.size(); ++at) {
    if (!is_digit(word[at - 1])) continue;  // types end with a digit
    const NumberType first = number_type(word.substr(0, at));
    const NumberType second = number_type(word.substr(at));
    if (first != NumberType::kUnknown && second != NumberType::kUnknown) return {first, second};
  }
  return {NumberType::kUnknown, NumberType::kUnknown};
}

bool read_types(std::string_view word, DecodedName& out) {
  const auto [first, second] = type_pair(word);
  if (first == NumberType::kUnknown) return false;
  if (out.output == NumberType::kUnknown) {
    out.output = second;
  } else if (out.dtype == NumberType::kUnknown) {
    out.dtype = first;
    out.accumulate = second;
  }
  return true;
}

void read_size_word(std::string_view word, DecodedName& out) {
  if (const auto tile = sizes_after(word, "tilesize")) out.tile = tile->values;
  if (const auto stages = number_after(word, "stage")) out.stages = *stages;
  if (const auto alignment = number_after(word, "aligna")) out.alignment = *alignment;
  for (const std::string_view prefix : {"cluster", "cgasize"}) {
    const auto cluster = sizes_after(word, prefix);
    if (!cluster) continue;
    out.cluster.assign(cluster->values.begin(), cluster->values.begin() + cluster->count);
  }
  // wgmma and mma instructions use tensor cores. "ffma" is the plain multiply-add.
  if (sizes_after(word, "tensor") || word.starts_with("warpgroupsize")) out.tensor_cores = true;
  if (word == "ffma" || word == "dfma" || word == "hfma2") out.tensor_cores = false;
}

}  // namespace

bool read_xmma(std::string_view name, DecodedName& out) {
  if (!name.starts_with("sm")) return false;
  const size_t at = name.substr(0, 16).find("_xmma_");
  if (at == std::string_view::npos) return false;
  // TensorRT has these kernels, too.
  if (contains(name, "cublas")) out.library = Library::kCublas;
  if (contains(name, "cudnn")) out.library = Library::kCudnn;
  out.arch = name.substr(0, at);
  Words words(name.substr(at + 6));
  const auto what = words.next().value_or("");
  out.kind = what == "gemm" ? Kind::kGemm : Kind::kConv;
  // A split GEMM runs twice under one name: "execute_kernel", then the reduction.
  if (contains(name, "execute_split_k")) {
    if (out.kind == Kind::kConv) out.split_k = true;
    if (out.kind == Kind::kGemm) out.kind = Kind::kSplitKReduce;
  }
  while (const auto word = words.next()) {
    if (read_types(*word, out)) continue;
    if (std::string order = layout(*word); out.kind != Kind::kConv && !order.empty()) {
      out.layout = std::move(order);
    }
    read_size_word(*word, out);
    add_epilogue(*word, out.epilogue);
  }
  return true;
}

}  // namespace epi::analysis::names
