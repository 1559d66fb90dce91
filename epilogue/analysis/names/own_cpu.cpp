// SPDX-License-Identifier: Apache-2.0
// gemm_f32_tn_bias, pointwise_gelu_tanh_f32_strided, reduce_sum_f32: the kernels of Epilogue's CPU
// backend. A kind, optionally an operator, a type, then a layout and an epilogue.
#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

struct Prefix {
  std::string_view text;
  Kind kind;
  bool has_op;  // the operator follows; otherwise the text is the operator
};
constexpr Prefix kPrefixes[] = {{"gemm_", Kind::kGemm, false},
                                {"gemm_batched_", Kind::kGemm, false},
                                {"gemv_", Kind::kGemv, false},
                                {"gemv_batched_", Kind::kGemv, false},
                                {"pointwise_", Kind::kPointwise, true},
                                {"reduce_", Kind::kReduction, true},
                                {"copy_", Kind::kCopy, false},
                                {"cat_", Kind::kCopy, false},
                                {"softmax_", Kind::kSoftmax, false},
                                {"log_softmax_", Kind::kSoftmax, false},
                                {"layer_norm_", Kind::kNorm, false},
                                {"rms_norm_", Kind::kNorm, false},
                                {"argmax_", Kind::kSort, false},
                                {"topk_", Kind::kSort, false},
                                {"gather_", Kind::kGather, false},
                                {"index_select_", Kind::kGather, false},
                                {"where_", Kind::kPointwise, false},
                                {"_safe_softmax_", Kind::kSoftmax, false},
                                {"causal_softmax_", Kind::kSoftmax, false}};

const Prefix* prefix_of(std::string_view name) {
  const Prefix* best = nullptr;
  for (const Prefix& prefix : kPrefixes) {
    const bool longer = best == nullptr || prefix.text.size() > best->text.size();
    if (name.starts_with(prefix.text) && longer) best = &prefix;
  }
  return best;
}

void read_tail(std::string_view tail, DecodedName& out) {
  Words words(tail);
  bool to = false;
  while (const auto word = words.next()) {
    if (std::string order = layout(*word); is_gemm(out.kind) && !order.empty()) {
      out.layout = std::move(order);
    } else if (to && number_type(*word) != NumberType::kUnknown) {
      out.output = number_type(*word);
    } else if (is_gemm(out.kind)) {
      add_epilogue(*word, out.epilogue);
    }
    to = *word == "to";
  }
}

}  // namespace

bool read_own_cpu(std::string_view name, DecodedName& out) {
  const Prefix* prefix = prefix_of(name);
  if (prefix == nullptr) return false;
  const std::string_view rest = name.substr(prefix->text.size());
  // The first word that is a type is the dtype. The operator precedes it.
  Words words(rest);
  while (const auto word = words.next()) {
    const NumberType type = number_type(*word);
    if (type == NumberType::kUnknown) continue;
    const auto before = static_cast<size_t>(word->data() - rest.data());
    if ((before > 0) != prefix->has_op) return false;
    out.library = Library::kEpilogue;
    out.kind = prefix->kind;
    out.dtype = out.output = type;
    if (!is_gemm(out.kind)) {
      const std::string_view op = prefix->has_op ? rest.substr(0, before) : prefix->text;
      // Use ATen's name, where the approximation of gelu is an argument.
      const std::string_view plain = op == "gelu_tanh_" ? "gelu_" : op;
      out.ops.emplace_back(plain.substr(0, plain.size() - 1));
    }
    read_tail(words.rest(), out);
    return true;
  }
  return false;
}

}  // namespace epi::analysis::names
