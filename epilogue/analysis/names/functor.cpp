// SPDX-License-Identifier: Apache-2.0
// Maps ATen's functors to operators, by removing the prefixes and suffixes that mark a functor.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// Longer suffixes before their own suffixes.
constexpr std::string_view kSuffixes[] = {"CUDAKernelImpl",
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
constexpr std::string_view kPrefixes[] = {"CUDAFunctorOnSelf_",
                                          "CUDAFunctorOnOther_",
                                          "CUDAFunctor_",
                                          "direct_",
                                          "bfloat16_",
                                          "float16_",
                                          "float8_",
                                          "launch_"};

// Functors whose name differs from the operator's.
struct Alias {
  std::string_view functor;
  std::string_view op;
};
constexpr Alias kAliases[] = {
    {"max_nan", "amax"},          {"min_nan", "amin"},   {"lp_norm", "norm"},
    {"multiplies", "mul"},        {"plus", "add"},       {"minus", "sub"},
    {"divides", "div"},           {"welford", "var"},    {"norm_two", "norm"},
    {"arg_max", "argmax"},        {"arg_min", "argmin"}, {"pow_tensor", "pow"},
    {"pow_tensor_tensor", "pow"}, {"div_true", "div"},   {"mse", "mse_loss"},
    {"div_floor", "floor_divide"}};

}  // namespace

std::string op_of_functor(std::string_view functor) {
  for (const std::string_view prefix : kPrefixes) {
    if (functor.starts_with(prefix)) functor.remove_prefix(prefix.size());
  }
  for (const std::string_view suffix : kSuffixes) {
    if (functor.ends_with(suffix) && functor.size() > suffix.size()) {
      functor.remove_suffix(suffix.size());
      break;
    }
  }
  std::string op = snake_case(functor);
  if (op.ends_with("_scalar")) op.resize(op.size() - 7);
  if (op.starts_with("compare")) return op.size() > 8 ? op.substr(8) : std::string();
  for (const Alias& alias : kAliases) {
    if (op == alias.functor) return std::string(alias.op);
  }
  return op;
}

}  // namespace epi::analysis::names
