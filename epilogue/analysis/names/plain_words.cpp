// SPDX-License-Identifier: Apache-2.0
// Functions of no known family: the kind from plain words in their names. Also CUB, whose names are
// plain words.
#include <algorithm>
#include <array>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// The first entry that occurs in a name gives the kind. More specific ones come first.
struct Keyword {
  std::string_view text;
  Kind kind;
};
constexpr Keyword kKeywords[] = {{"all_reduce", Kind::kComm},
                                 {"allreduce", Kind::kComm},
                                 {"all_gather", Kind::kComm},
                                 {"allgather", Kind::kComm},
                                 {"reduce_scatter", Kind::kComm},
                                 {"cross_device_reduce", Kind::kComm},
                                 {"msccl", Kind::kComm},
                                 {"attention", Kind::kAttention},
                                 {"pagedkv", Kind::kAttention},
                                 {"flash_mla", Kind::kAttention},
                                 {"dot_do_o", Kind::kAttention},
                                 {"attn", Kind::kAttention},
                                 {"fmha", Kind::kAttention},
                                 {"softmax", Kind::kSoftmax},
                                 {"layer_norm", Kind::kNorm},
                                 {"layernorm", Kind::kNorm},
                                 {"rms_norm", Kind::kNorm},
                                 {"rmsnorm", Kind::kNorm},
                                 {"batch_norm", Kind::kNorm},
                                 {"batchnorm", Kind::kNorm},
                                 {"group_norm", Kind::kNorm},
                                 {"groupnorm", Kind::kNorm},
                                 {"rowwisemoments", Kind::kNorm},
                                 {"gammabeta", Kind::kNorm},
                                 {"nll_loss", Kind::kReduction},
                                 {"nllcriterion", Kind::kReduction},
                                 {"qparam", Kind::kReduction},
                                 {"reshape_and_cache", Kind::kCopy},
                                 {"kvcache", Kind::kCopy},
                                 {"kv_cache", Kind::kCopy},
                                 {"permute", Kind::kCopy},
                                 {"fused_moe", Kind::kGemm},
                                 {"rotary", Kind::kPointwise},
                                 {"rope_", Kind::kPointwise},
                                 {"_rope", Kind::kPointwise},
                                 {"cast_to_", Kind::kPointwise},
                                 {"upsample", Kind::kGather},
                                 {"dropout", Kind::kPointwise},
                                 {"topk", Kind::kSort},
                                 {"sort", Kind::kSort},
                                 {"embedding", Kind::kGather},
                                 {"gather", Kind::kGather},
                                 {"scatter", Kind::kGather},
                                 {"index", Kind::kGather},
                                 {"partial_segment", Kind::kGather},
                                 {"partials_per_segment", Kind::kGather},
                                 {"compute_grad_weight", Kind::kGather},
                                 {"adam", Kind::kOptimizer},
                                 {"sgd", Kind::kOptimizer},
                                 {"scan", Kind::kReduction},
                                 {"reduce", Kind::kReduction},
                                 {"reduction", Kind::kReduction},
                                 {"pool", Kind::kReduction},
                                 {"igemm", Kind::kConv},
                                 {"conv", Kind::kConv},
                                 {"im2col", Kind::kCopy},
                                 {"gemm", Kind::kGemm},
                                 {"gemv", Kind::kGemv},
                                 {"matmul", Kind::kGemm},
                                 {"bmm_", Kind::kGemm},
                                 {"transpose", Kind::kCopy},
                                 {"copy", Kind::kCopy},
                                 {"random", Kind::kRandom},
                                 {"elementwise", Kind::kPointwise},
                                 {"pointwise", Kind::kPointwise},
                                 {"act_and_mul", Kind::kPointwise},
                                 {"silu", Kind::kPointwise},
                                 {"gelu", Kind::kPointwise},
                                 {"geglu", Kind::kPointwise},
                                 {"swiglu", Kind::kPointwise},
                                 {"quant", Kind::kPointwise},
                                 {"fp8rowwise", Kind::kPointwise},
                                 {"tril", Kind::kPointwise},
                                 {"select", Kind::kGather},
                                 {"norm", Kind::kNorm}};

}  // namespace

void read_plain_words(std::string_view base, DecodedName& out) {
  std::array<char, 128> lower{};
  const size_t size = std::min(base.size(), lower.size());
  std::transform(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(size), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string_view text(lower.data(), size);
  for (const Keyword& keyword : kKeywords) {
    if (!contains(text, keyword.text)) continue;
    out.kind = keyword.kind;
    return;
  }
}

bool is_cub(const CppName& cpp) {
  return cpp.scope == "cub" || cpp.scope.starts_with("cub::") || cpp.scope.ends_with("::cub") ||
         contains(cpp.scope, "::cub::");
}

// void at_cuda_detail::cub::...::DeviceRadixSortOnesweepKernel<...>: CUB, as ATen's copy or another
// one.
bool read_cub(std::string_view /*name*/, const CppName& cpp, DecodedName& out) {
  if (!is_cub(cpp)) return false;
  // CUB of the CUDA toolkit, or the copy inside ATen.
  const bool aten = cpp.scope.starts_with("at_cuda_detail") || cpp.scope.starts_with("at::");
  out.library = aten ? Library::kAten : Library::kCuda;
  read_plain_words(cpp.base, out);
  if (contains(cpp.base, "CompactInit")) out.kind = Kind::kReduction;
  return true;
}

}  // namespace epi::analysis::names
