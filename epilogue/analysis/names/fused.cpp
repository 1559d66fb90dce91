// SPDX-License-Identifier: Apache-2.0
// triton_poi_fused__unsafe_view_gelu_mul_0: kernels that Inductor generated, and ours, which are
// named alike: poi is pointwise, red and per are reductions, tem is a template such as a GEMM, for
// is a list of tensors; then the operators, sorted, each once; then a number.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"
#include "epilogue/pointwise/table.h"

namespace epi::analysis::names {
namespace {

// Operators of more than one word: the only part of such a name that its underscores do not tell.
// Sorted; a longer match wins. From ATen's and Prims' operator lists.
constexpr std::string_view kLongOps[] = {"_adaptive_avg_pool2d",
                                         "_adaptive_avg_pool2d_backward",
                                         "_cdist_forward",
                                         "_efficient_attention_forward",
                                         "_embedding_bag",
                                         "_flash_attention_forward",
                                         "_foreach_add",
                                         "_foreach_addcdiv",
                                         "_foreach_addcmul",
                                         "_foreach_copy",
                                         "_foreach_div",
                                         "_foreach_mul",
                                         "_foreach_sqrt",
                                         "_fused_adam",
                                         "_fused_adamw",
                                         "_fused_rms_norm",
                                         "_index_put_impl",
                                         "_log_softmax",
                                         "_log_softmax_backward_data",
                                         "_native_batch_norm_legit",
                                         "_native_batch_norm_legit_functional",
                                         "_scaled_dot_product_attention_math",
                                         "_scaled_dot_product_cudnn_attention",
                                         "_scaled_dot_product_cudnn_attention_backward",
                                         "_scaled_dot_product_efficient_attention",
                                         "_scaled_dot_product_efficient_attention_backward",
                                         "_scaled_dot_product_flash_attention",
                                         "_scaled_dot_product_flash_attention_backward",
                                         "_scaled_dot_product_fused_attention_overrideable",
                                         "_scaled_mm",
                                         "_softmax",
                                         "_softmax_backward_data",
                                         "_to_copy",
                                         "_unsafe_index",
                                         "_unsafe_index_put",
                                         "_unsafe_view",
                                         "_weight_norm",
                                         "adaptive_avg_pool2d",
                                         "adaptive_max_pool2d",
                                         "all_gather",
                                         "all_gather_into_tensor",
                                         "all_reduce",
                                         "as_strided",
                                         "as_strided_scatter",
                                         "avg_pool2d",
                                         "avg_pool2d_backward",
                                         "batch_norm",
                                         "batch_norm_backward",
                                         "binary_cross_entropy",
                                         "binary_cross_entropy_with_logits",
                                         "bitwise_and",
                                         "bitwise_left_shift",
                                         "bitwise_not",
                                         "bitwise_or",
                                         "bitwise_right_shift",
                                         "bitwise_xor",
                                         "clamp_max",
                                         "clamp_min",
                                         "constant_pad_nd",
                                         "convert_element_type",
                                         "convolution_backward",
                                         "cross_entropy_loss",
                                         "cudnn_batch_norm",
                                         "detach_copy",
                                         "div_mode",
                                         "elu_backward",
                                         "embedding_dense_backward",
                                         "empty_like",
                                         "fill_scalar",
                                         "flex_attention",
                                         "flex_attention_backward",
                                         "floor_divide",
                                         "full_like",
                                         "fused_add_rms_norm",
                                         "gelu_backward",
                                         "glu_backward",
                                         "grid_sampler_2d",
                                         "group_norm",
                                         "gt_scalar",
                                         "hardsigmoid_backward",
                                         "hardswish_backward",
                                         "hardtanh_backward",
                                         "index_add",
                                         "index_copy",
                                         "index_put",
                                         "index_select",
                                         "inductor_seeds",
                                         "inductor_random",
                                         "inductor_randint",
                                         "inductor_lookup_seed",
                                         "layer_norm",
                                         "leaky_relu",
                                         "leaky_relu_backward",
                                         "linalg_vector_norm",
                                         "log_sigmoid",
                                         "log_sigmoid_forward",
                                         "log_softmax",
                                         "logical_and",
                                         "logical_not",
                                         "logical_or",
                                         "logical_xor",
                                         "masked_fill",
                                         "masked_scatter",
                                         "max_pool2d",
                                         "max_pool2d_with_indices",
                                         "max_pool2d_with_indices_backward",
                                         "mse_loss",
                                         "mse_loss_backward",
                                         "mul_add",
                                         "mul_tensor",
                                         "native_batch_norm",
                                         "native_batch_norm_backward",
                                         "native_dropout",
                                         "native_dropout_backward",
                                         "native_group_norm",
                                         "native_group_norm_backward",
                                         "native_layer_norm",
                                         "native_layer_norm_backward",
                                         "new_empty",
                                         "new_full",
                                         "new_ones",
                                         "new_zeros",
                                         "nll_loss",
                                         "nll_loss2d_backward",
                                         "nll_loss2d_forward",
                                         "nll_loss_backward",
                                         "nll_loss_forward",
                                         "not_equal",
                                         "ones_like",
                                         "pixel_shuffle",
                                         "pow_scalar",
                                         "prepare_softmax_online",
                                         "rand_like",
                                         "randn_like",
                                         "reduce_scatter",
                                         "reduce_scatter_tensor",
                                         "reflection_pad2d",
                                         "relu_backward",
                                         "replication_pad2d",
                                         "rms_norm",
                                         "roi_align",
                                         "scalar_tensor",
                                         "scaled_dot_product_attention",
                                         "scatter_add",
                                         "scatter_reduce",
                                         "select_backward",
                                         "select_scatter",
                                         "sigmoid_backward",
                                         "silu_backward",
                                         "slice_backward",
                                         "slice_scatter",
                                         "smooth_l1_loss",
                                         "soft_margin_loss",
                                         "split_with_sizes",
                                         "squeeze_copy",
                                         "tanh_backward",
                                         "threshold_backward",
                                         "to_copy",
                                         "true_divide",
                                         "upsample_bicubic2d",
                                         "upsample_bilinear2d",
                                         "upsample_nearest2d",
                                         "upsample_nearest2d_backward",
                                         "var_mean",
                                         "view_as_complex",
                                         "view_as_real",
                                         "wait_tensor",
                                         "zeros_like"};

// The longest operator of several words that the text begins with; empty where there is none.
std::string_view longest_op(std::string_view text) {
  std::string_view best;
  const auto consider = [&](std::string_view op) {
    if (op.size() <= best.size() || !text.starts_with(op)) return;
    if (text.size() == op.size() || text[op.size()] == '_') best = op;
  };
  // Candidates share the text's first word, and so lie together.
  const std::string_view first = text.substr(0, text.find('_', 1));
  for (auto op = std::lower_bound(std::begin(kLongOps), std::end(kLongOps), first);
       op != std::end(kLongOps) && op->starts_with(first); ++op) {
    consider(*op);
  }
  for (const pointwise::FunctionInfo& info : pointwise::kFunctions) {
    if (contains(info.op, "_")) consider(info.op);
  }
  return best;
}

Kind template_kind(const std::vector<std::string>& ops) {
  for (const std::string& op : ops) {
    if (op == "mm" || op == "addmm" || op == "bmm" || op == "baddbmm" || op == "_scaled_mm") {
      return Kind::kGemm;
    }
    if (op == "convolution") return Kind::kConv;
    if (contains(op, "attention")) return Kind::kAttention;
  }
  return Kind::kUnknown;
}

Kind kind_of(std::string_view category, const std::vector<std::string>& ops) {
  if (category == "poi" || category == "for") return Kind::kPointwise;
  if (category == "red" || category == "per" || category == "spl" || category == "mix") {
    return Kind::kReduction;
  }
  return category == "tem" ? template_kind(ops) : Kind::kUnknown;
}

// Inductor's codes; red loops over a row, per holds it at once.
std::string form_of(std::string_view category) {
  if (category == "poi") return "pointwise";
  if (category == "red") return "looped reduction";
  if (category == "per") return "persistent reduction";
  if (category == "spl") return "split scan";
  if (category == "mix") return "mixed-order reduction";
  if (category == "for") return "list of tensors (foreach)";
  if (category == "tem") return "template";
  return "";
}

// Cuts off "_12", and the "_0d1d2d3de" with which older versions described the arguments.
std::string_view without_number(std::string_view text) {
  const size_t at = text.rfind('_');
  if (at == std::string_view::npos || at + 1 >= text.size()) return text;
  const std::string_view last = text.substr(at + 1);
  const bool counted =
      is_digit(last.front()) && last.find_first_not_of("0123456789dec") == std::string_view::npos;
  return counted ? text.substr(0, at) : text;
}

// Cuts off the form of a kernel of ours: element by element, or few rows with the weights going by.
std::string_view without_form(std::string_view text, DecodedName& out) {
  for (const std::string_view form : {"_strided", "_stream"}) {
    if (!text.ends_with(form)) continue;
    text.remove_suffix(form.size());
    if (form == "_strided") out.vector_width = 1;
    if (form == "_stream") out.tensor_cores = true;
  }
  return text;
}

}  // namespace

std::vector<std::string> split_fused_ops(std::string_view joined) {
  std::vector<std::string> ops;
  while (!joined.empty()) {
    std::string_view op = longest_op(joined);
    if (op.empty()) op = joined.substr(0, joined.find('_', 1));
    ops.emplace_back(op);
    joined.remove_prefix(op.size());
    if (joined.starts_with('_')) joined.remove_prefix(1);
  }
  return ops;
}

bool read_fused(std::string_view name, DecodedName& out) {
  const bool triton = name.starts_with("triton_");
  if (!triton && !name.starts_with("epi_")) return false;
  out.library = triton ? Library::kTriton : Library::kEpilogue;
  if (!triton) name = without_form(name, out);
  std::string_view rest = without_number(name.substr(triton ? 7 : 4));
  const std::string_view category = rest.substr(0, 3);
  const size_t fused = rest.find("fused_");
  if (fused == 4) {
    rest.remove_prefix(10);
    out.ops = split_fused_ops(rest);
    out.form = form_of(category);
  } else if (fused == std::string_view::npos && rest.size() > 3 && rest[3] != '_') {
    out.ops = split_fused_ops(rest);  // "triton_mm", a template by itself
    out.kind = template_kind(out.ops);
    if (out.kind == Kind::kUnknown) out.ops.clear();
    return true;
  }
  out.kind = rest == "mm" || rest == "bmm" ? Kind::kGemm : kind_of(category, out.ops);
  return true;
}

}  // namespace epi::analysis::names
