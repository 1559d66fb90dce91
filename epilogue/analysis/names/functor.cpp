// SPDX-License-Identifier: Apache-2.0
// Operators behind ATen's functors: the functor's name without what says that it is one.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// Longer ones before those that they end with.
constexpr std::string_view kEndings[] = {"CUDAKernelImpl",
                                         "_kernel_cuda_impl",
                                         "_kernel_impl_cuda",
                                         "_kernel_cuda",
                                         "_cuda_kernel",
                                         "_kernel_impl",
                                         "KernelImpl",
                                         "_kernel",
                                         "_cuda_out",
                                         "_functor",
                                         "Functor",
                                         "_cuda",
                                         "_impl",
                                         "Ops",
                                         "_op"};
constexpr std::string_view kBeginnings[] = {"CUDAFunctorOnSelf_",
                                            "CUDAFunctorOnOther_",
                                            "CUDAFunctor_",
                                            "direct_",
                                            "bfloat16_",
                                            "float16_",
                                            "float8_",
                                            "launch_"};

// Where the functor is called otherwise than its operator.
struct Alias {
  std::string_view functor;
  std::string_view op;
};
constexpr Alias kAliases[] = {
    {"max_nan", "amax"},          {"min_nan", "amin"},   {"clamp_scalar", "clamp"},
    {"multiplies", "mul"},        {"plus", "add"},       {"minus", "sub"},
    {"divides", "div"},           {"welford", "var"},    {"norm_two", "norm"},
    {"arg_max", "argmax"},        {"arg_min", "argmin"}, {"pow_tensor_scalar", "pow"},
    {"pow_tensor_tensor", "pow"}, {"div_true", "div"},   {"div_floor", "floor_divide"}};

std::string snake_case(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool upper = c >= 'A' && c <= 'Z';
    const bool after_lower = i > 0 && text[i - 1] >= 'a' && text[i - 1] <= 'z';
    if (upper && after_lower) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace

std::string op_of_functor(std::string_view functor) {
  for (const std::string_view beginning : kBeginnings) {
    if (functor.starts_with(beginning)) functor.remove_prefix(beginning.size());
  }
  for (const std::string_view ending : kEndings) {
    if (functor.ends_with(ending) && functor.size() > ending.size()) {
      functor.remove_suffix(ending.size());
      break;
    }
  }
  std::string op = snake_case(functor);
  for (const Alias& alias : kAliases) {
    if (op == alias.functor) return std::string(alias.op);
  }
  return op;
}

namespace {

// The first that occurs in a name says the kind; the more particular ones come first.
struct Sign {
  std::string_view text;
  Kind kind;
};
constexpr Sign kSigns[] = {{"all_reduce", Kind::kComm},
                           {"allreduce", Kind::kComm},
                           {"all_gather", Kind::kComm},
                           {"allgather", Kind::kComm},
                           {"reduce_scatter", Kind::kComm},
                           {"fmha", Kind::kAttention},
                           {"attention", Kind::kAttention},
                           {"attn", Kind::kAttention},
                           {"softmax", Kind::kSoftmax},
                           {"layer_norm", Kind::kNorm},
                           {"layernorm", Kind::kNorm},
                           {"rms_norm", Kind::kNorm},
                           {"rmsnorm", Kind::kNorm},
                           {"batch_norm", Kind::kNorm},
                           {"group_norm", Kind::kNorm},
                           {"rowwisemoments", Kind::kNorm},
                           {"gammabeta", Kind::kNorm},
                           {"nll_loss", Kind::kReduction},
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
                           {"conv", Kind::kConv},
                           {"im2col", Kind::kCopy},
                           {"gemm", Kind::kGemm},
                           {"gemv", Kind::kGemv},
                           {"matmul", Kind::kGemm},
                           {"transpose", Kind::kCopy},
                           {"copy", Kind::kCopy},
                           {"random", Kind::kRandom},
                           {"elementwise", Kind::kPointwise},
                           {"pointwise", Kind::kPointwise},
                           {"act_and_mul", Kind::kPointwise},
                           {"silu", Kind::kPointwise},
                           {"gelu", Kind::kPointwise},
                           {"rotary", Kind::kPointwise},
                           {"tril", Kind::kPointwise}};

}  // namespace

void read_plain_words(std::string_view base, KernelName& out) {
  std::array<char, 128> lower{};
  const size_t size = std::min(base.size(), lower.size());
  std::transform(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(size), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string_view text(lower.data(), size);
  for (const Sign& sign : kSigns) {
    if (!contains(text, sign.text)) continue;
    out.kind = sign.kind;
    return;
  }
}

// void at_cuda_detail::cub::...::DeviceRadixSortOnesweepKernel<...>: ATen's copy of CUB, or
// others'.
bool read_cub(const CppName& cpp, KernelName& out) {
  if (!contains(cpp.scope, "cub")) return false;
  if (!cpp.scope.starts_with("cub") && !contains(cpp.scope, "::cub")) return false;
  // The toolkit's own, or the copy inside of ATen.
  const bool aten = cpp.scope.starts_with("at_cuda_detail") || cpp.scope.starts_with("at::");
  out.library = aten ? Library::kAten : Library::kCuda;
  read_plain_words(cpp.base, out);
  if (contains(cpp.base, "CompactInit")) out.kind = Kind::kReduction;
  return true;
}

}  // namespace epi::analysis::names
