// SPDX-License-Identifier: Apache-2.0
// Families whose names encode little: runtime copies and memsets, NCCL, attention, cuDNN.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

NumberType nccl_type(std::string_view word) {
  if (word == "int8") return NumberType::kS8;
  if (word == "uint8") return NumberType::kU8;
  if (word == "double") return NumberType::kF64;
  if (word == "bfloat16") return NumberType::kBf16;
  return number_type(word);
}

// Flash_fwd_kernel_traits<head size, rows of Q, rows of K, warps, ..., type>.
void read_flash_traits(std::string_view traits, DecodedName& out) {
  const CppName read = read_cpp_name(traits);
  const auto head = number(read.arg(0));
  const auto rows = number(read.arg(1));
  const auto columns = number(read.arg(2));
  if (head && rows && columns) out.tile = {*rows, *columns, *head};
  for (size_t i = 3; i < read.arg_count && out.dtype == NumberType::kUnknown; ++i) {
    const NumberType type = cpp_type(read.arg(i));
    if (type != NumberType::kBool) out.dtype = type;
  }
}

struct Keyword {
  std::string_view text;
  Kind kind;
};
// The first entry that occurs in a cuDNN name gives its kind.
constexpr Keyword kCudnnKeywords[] = {{"plitK", Kind::kSplitKReduce},
                                      {"convert_", Kind::kCopy},
                                      {"compute_dot_do_o", Kind::kAttention},
                                      {"sdpa", Kind::kAttention},
                                      {"mha", Kind::kAttention},
                                      {"nchwToNhwc", Kind::kCopy},
                                      {"nhwcToNchw", Kind::kCopy},
                                      {"tensorTransform", Kind::kCopy},
                                      {"bn_", Kind::kNorm},
                                      {"batchnorm", Kind::kNorm},
                                      {"norm", Kind::kNorm},
                                      {"softmax", Kind::kSoftmax},
                                      {"pooling", Kind::kReduction},
                                      {"reduce", Kind::kReduction},
                                      {"winograd", Kind::kConv},
                                      {"conv", Kind::kConv},
                                      {"fprop", Kind::kConv},
                                      {"dgrad", Kind::kConv},
                                      {"wgrad", Kind::kConv},
                                      {"fft2d", Kind::kConv},
                                      {"::cnn::", Kind::kConv},
                                      {"op_tensor", Kind::kPointwise},
                                      {"op_generic", Kind::kPointwise},
                                      {"activation", Kind::kPointwise},
                                      {"scal", Kind::kPointwise},
                                      {"gemm", Kind::kGemm}};

void read_cudnn_word(std::string_view word, DecodedName& out) {
  if (word.starts_with("sm") && number(word.substr(2)) && out.arch.empty()) out.arch = word;
  if (word == "wgmma" || word == "wmma" || word == "tensorop") out.tensor_cores = true;
  if (const auto size = sizes(word); size && size->count == 3 && out.tile[0] == 0) {
    out.tile = size->values;
  }
  if (const auto cluster = sizes_after(word, "cga")) {
    out.cluster.assign(cluster->values.begin(), cluster->values.begin() + cluster->count);
  }
  if (const NumberType type = number_type(word);
      type != NumberType::kUnknown && out.dtype == NumberType::kUnknown) {
    out.dtype = type;
  }
}

}  // namespace

bool read_memcpy_or_memset(std::string_view name, DecodedName& out) {
  const bool copy =
      name.starts_with("Memcpy") || name.starts_with("CopyDevice") || name.starts_with("CopyHost");
  if (!copy && !name.starts_with("Memset")) return false;
  out.library = Library::kCuda;
  out.kind = copy ? Kind::kMemcpy : Kind::kMemset;
  return true;
}

bool read_nccl(std::string_view name, DecodedName& out) {
  if (!name.starts_with("nccl") && !name.starts_with("rccl")) return false;
  out.library = Library::kNccl;
  out.kind = Kind::kComm;
  name = name.substr(0, name.find_first_of("(<"));
  Words words(name);
  words.next();
  static constexpr std::string_view kCollectives[] = {"AllReduce", "AllGather", "ReduceScatter",
                                                      "Broadcast", "Reduce",    "SendRecv",
                                                      "AllToAll",  "Gather",    "Scatter"};
  while (const auto word = words.next()) {
    if (std::find(std::begin(kCollectives), std::end(kCollectives), *word) !=
        std::end(kCollectives)) {
      out.ops.push_back(snake_case(*word));
    }
    const NumberType type = nccl_type(*word);
    if (type != NumberType::kUnknown) out.dtype = out.output = type;
  }
  return true;
}

// fmha_cutlassF_bf16_aligned_64x64_rf_sm80.
bool read_fmha(std::string_view name, DecodedName& out) {
  if (!name.starts_with("fmha")) return false;
  out.kind = Kind::kAttention;
  if (contains(name, "flash")) out.library = Library::kFlash;
  if (name.starts_with("fmhaSm")) {  // fmhaSm100aKernel_...
    out.arch = sm(name.substr(6, name.find_first_not_of("0123456789", 6) - 6));
  }
  Words words(name.substr(0, name.find_first_of("(<")));
  while (const auto word = words.next()) {
    if (*word == "cutlassF" || *word == "cutlassB") {
      out.library = Library::kCutlass;
      out.ops.emplace_back(*word == "cutlassF" ? "attention" : "attention_backward");
    }
    if (word->starts_with("sm") && number(word->substr(2))) out.arch = *word;
    if (const auto size = sizes(*word); size && out.tile[0] == 0) out.tile = size->values;
    if (const NumberType type = number_type(*word);
        type != NumberType::kUnknown && out.dtype == NumberType::kUnknown) {
      out.dtype = type;
    }
  }
  return true;
}

bool read_flash(std::string_view /*name*/, const CppName& cpp, DecodedName& out) {
  const bool scoped = cpp.scope == "flash" || contains(cpp.scope, "pytorch_flash");
  if (!cpp.base.starts_with("flash_fwd") && !cpp.base.starts_with("flash_bwd") && !scoped) {
    return false;
  }
  out.library = Library::kFlash;
  out.kind = Kind::kAttention;
  if (contains(cpp.base, "fwd")) out.ops.emplace_back("attention");
  if (contains(cpp.base, "bwd")) out.ops.emplace_back("attention_backward");
  if (contains(cpp.arg(0), "kernel_traits<")) read_flash_traits(cpp.arg(0), out);
  return true;
}

bool read_cudnn(std::string_view name, const CppName& cpp, DecodedName& out) {
  static constexpr std::string_view kLegacy[] = {"implicit_convolve_sgemm",
                                                 "explicit_convolve",
                                                 "wgrad_alg",
                                                 "wgrad2d_",
                                                 "dgrad_engine",
                                                 "dgrad2d_",
                                                 "fft2d_r2c",
                                                 "fft2d_c2r",
                                                 "compute_dot_do_o"};
  const std::string_view head = name.substr(0, name.find_first_of("(<"));
  const bool legacy = std::any_of(std::begin(kLegacy), std::end(kLegacy),
                                  [&](std::string_view text) { return contains(head, text); });
  // Functions of cuDNN use its types as arguments, even if cuDNN is not in their name.
  if (!legacy && !contains(head, "cudnn") && !contains(name.substr(head.size()), "cudnn")) {
    return false;
  }
  out.library = Library::kCudnn;
  // For a wrapper, the argument is the kernel.
  for (const std::string_view text : {head, cpp.arg(0)}) {
    const auto* keyword =
        std::find_if(std::begin(kCudnnKeywords), std::end(kCudnnKeywords),
                     [&](const Keyword& one) { return contains(text, one.text); });
    if (keyword == std::end(kCudnnKeywords)) continue;
    out.kind = keyword->kind;
    break;
  }
  if (out.kind == Kind::kAttention) {
    out.ops.emplace_back(contains(head, "bprop") ? "attention_backward" : "attention");
  }
  Words words(head);
  while (const auto word = words.next()) read_cudnn_word(*word, out);
  if (out.dtype == NumberType::kUnknown) {
    const NumberType type = cpp_type(cpp.arg(0));
    if (type != NumberType::kS32 && type != NumberType::kBool) out.dtype = type;
  }
  return true;
}

}  // namespace epi::analysis::names
