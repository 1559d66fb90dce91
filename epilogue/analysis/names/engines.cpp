// SPDX-License-Identifier: Apache-2.0
// Kernels of inference engines and their libraries, recognized by namespace or by prefix.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

struct Scope {
  std::string_view text;
  Library library;
  Kind kind = Kind::kUnknown;  // if the function's name does not give it
};
constexpr Scope kScopes[] = {{"vllm", Library::kVllm},
                             {"sgl_hip", Library::kSglang},
                             {"sgl", Library::kSglang},
                             {"sglang", Library::kSglang},
                             {"flashinfer", Library::kFlashInfer},
                             {"fbgemm_gpu", Library::kFbgemm},
                             {"tensorrt_llm", Library::kTensorrtLlm},
                             {"marlin", Library::kMarlin, Kind::kGemm},
                             {"marlin_moe_wna16", Library::kMarlin, Kind::kGemm},
                             {"deep_ep", Library::kDeepEp, Kind::kComm},
                             {"dpsk::ep::internode", Library::kDeepEp, Kind::kComm},
                             {"dpsk::ep::intranode", Library::kDeepEp, Kind::kComm},
                             {"aiter", Library::kAiter},
                             {"ck_tile", Library::kCk},
                             {"ck", Library::kCk},
                             {"rocprim", Library::kRocprim}};

// Functions without a namespace, by prefix.
constexpr Scope kPrefixes[] = {{"split_embedding_", Library::kFbgemm, Kind::kGather},
                               {"dense_embedding_codegen", Library::kFbgemm, Kind::kGather},
                               {"bounds_check_indices", Library::kFbgemm, Kind::kGather},
                               {"permute_pooled_embs", Library::kFbgemm, Kind::kCopy},
                               {"linearize_index", Library::kFbgemm, Kind::kGather},
                               {"paged_attention_ll4mi", Library::kVllm, Kind::kAttention},
                               {"sage_", Library::kSage, Kind::kAttention},
                               {"qk_int_sv_f", Library::kSage, Kind::kAttention},
                               {"Marlin", Library::kMarlin, Kind::kGemm}};

bool is_in(std::string_view scope, std::string_view name) {
  return scope.starts_with(name) &&
         (scope.size() == name.size() || scope.substr(name.size()).starts_with("::"));
}

// Types in TensorRT-LLM's generated kernels: "E4m3", "MxE2m1", "Bfloat16".
NumberType generated_type(std::string_view word) {
  if (word.starts_with("Mx")) word.remove_prefix(2);
  if (word.starts_with("E4m3")) return NumberType::kF8e4m3;
  if (word.starts_with("E5m2")) return NumberType::kF8e5m2;
  if (word.starts_with("E2m1")) return NumberType::kF4e2m1;
  if (word.starts_with("Bfloat16")) return NumberType::kBf16;
  if (word.starts_with("Fp16")) return NumberType::kF16;
  if (word.starts_with("Fp32")) return NumberType::kF32;
  return NumberType::kUnknown;
}

}  // namespace

bool read_scoped(std::string_view /*name*/, const CppName& cpp, DecodedName& out) {
  const auto* scope = std::find_if(std::begin(kScopes), std::end(kScopes),
                                   [&](const Scope& one) { return is_in(cpp.scope, one.text); });
  const auto* prefix =
      std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                   [&](const Scope& one) { return cpp.base.starts_with(one.text); });
  if (scope == std::end(kScopes) && prefix == std::end(kPrefixes)) return false;
  const Scope& found = scope != std::end(kScopes) ? *scope : *prefix;
  out.library = found.library;
  if (scope == std::end(kScopes)) {
    out.kind = found.kind;
  } else {
    read_plain_words(cpp.base, out);
  }
  // For a wrapper, the argument is the kernel.
  for (size_t i = 0; i < cpp.arg_count && out.kind == Kind::kUnknown; ++i) {
    read_plain_words(cpp.arg(i), out);
  }
  if (out.kind == Kind::kUnknown) out.kind = found.kind;
  for (size_t i = 0; i < cpp.arg_count && out.dtype == NumberType::kUnknown; ++i) {
    const NumberType type = cpp_type(cpp.arg(i));
    if (type != NumberType::kBool && type != NumberType::kS32 && type != NumberType::kS64) {
      out.dtype = type;
    }
  }
  return true;
}

bool read_miopen(std::string_view name, DecodedName& out) {
  const bool conv = name.starts_with("igemm_");
  const bool transposes = name.starts_with("batched_transpose_");
  const bool combines = name.starts_with("SubTensorOp");
  const bool named = name.starts_with("MIOpen") || name.starts_with("miopen");
  if (!conv && !transposes && !combines && !named) return false;
  out.library = Library::kMiopen;
  if (named) {
    read_plain_words(name, out);
    return true;
  }
  out.kind = conv ? Kind::kConv : transposes ? Kind::kCopy : Kind::kPointwise;
  Words words(name);
  while (const auto word = words.next()) {
    if (*word == "fwd") out.ops.emplace_back("convolution");
    if (*word == "bwd" || *word == "wrw") out.ops.emplace_back("convolution_backward");
    const NumberType type = *word == "half" ? NumberType::kF16 : number_type(*word);
    if (type != NumberType::kUnknown && out.dtype == NumberType::kUnknown) out.dtype = type;
    if (const auto tile = sizes_after(*word, "bt"); tile && conv) out.tile = tile->values;
  }
  return true;
}

bool read_tensorrt_llm(std::string_view name, DecodedName& out) {
  Words words(name);
  const auto first = words.next();
  if (first != "bmm" && first != "gemm") return false;
  const auto result = words.next();
  if (!result || generated_type(*result) == NumberType::kUnknown) return false;
  out.library = Library::kTensorrtLlm;
  out.kind = Kind::kGemm;
  out.output = generated_type(*result);
  const auto inputs = words.next();
  if (inputs) out.dtype = generated_type(*inputs);
  while (const auto word = words.next()) {
    if (out.accumulate == NumberType::kUnknown) out.accumulate = generated_type(*word);
    // "t128x16x256u2": unrolled twice.
    if (word->starts_with("t") && out.tile[0] == 0) {
      const std::string_view sized = word->substr(1, word->find('u') - 1);
      if (const auto tile = sizes(sized); tile && tile->count == 3) out.tile = tile->values;
    }
    if (const auto stages = number_after(*word, "s"); stages && out.stages == 0) {
      out.stages = *stages;
    }
    if (const auto cluster = sizes_after(*word, "cga")) {
      out.cluster.assign(cluster->values.begin(), cluster->values.begin() + cluster->count);
    }
    if (word->starts_with("sm") && word->size() > 2 && is_digit((*word)[2])) out.arch = *word;
    if (word->size() == 2 && out.layout.empty()) out.layout = layout(*word);
  }
  return true;
}

bool read_triton_kernels(std::string_view name, DecodedName& out) {
  constexpr std::string_view kMatmul = "_matmul_ogs";
  constexpr std::string_view kPersistent = "_p_matmul_ogs";
  if (name == "fused_moe_kernel" || name.starts_with("fused_moe_kernel_")) {
    out.kind = Kind::kGemm;
    out.ops.emplace_back("fused_moe");
    return true;
  }
  const bool persistent = name.starts_with(kPersistent);
  if (!persistent && !name.starts_with(kMatmul)) return false;
  out.library = Library::kTriton;
  out.kind = Kind::kGemm;
  if (persistent) out.form = "persistent";
  Words words(name.substr(persistent ? kPersistent.size() : kMatmul.size()));
  while (const auto word = words.next()) {
    if (out.layout.empty()) out.layout = layout(*word);
    // "16x128x256x1": the last number is the split-K factor.
    const size_t split = word->rfind('x');
    if (split != std::string_view::npos && out.tile[0] == 0) {
      const auto tile = sizes(word->substr(0, split));
      if (tile && tile->count == 3) {
        out.tile = tile->values;
        out.split_k = word->substr(split + 1) != "1";
      }
    }
    // "bf16xbf16xmxfp4": result, rows, weights.
    const size_t times = word->find('x');
    if (times != std::string_view::npos && out.dtype == NumberType::kUnknown) {
      const std::string_view rest = word->substr(times + 1);
      out.output = number_type(word->substr(0, times));
      out.dtype = number_type(rest.substr(0, rest.find('x')));
    }
    if (*word == "swiglu") out.epilogue.emplace_back(*word);
  }
  return true;
}

}  // namespace epi::analysis::names
