// SPDX-License-Identifier: Apache-2.0
// _geglu_tanh_forward_kernel, liger_cross_entropy_kernel: Triton kernels of the Liger package,
// named after what they compute.
#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {

bool read_liger(std::string_view name, DecodedName& out) {
  std::string_view base = name;
  if (base.starts_with("liger_")) {
    base.remove_prefix(6);
  } else if (!base.starts_with('_') || !base.ends_with("_kernel")) {
    if (name != "_triton_rope") return false;
  }
  struct Op {
    std::string_view text;
    Kind kind;
  };
  static constexpr Op kOps[] = {
      {"geglu_tanh", Kind::kPointwise},  {"swiglu", Kind::kPointwise},
      {"rms_norm", Kind::kNorm},         {"layer_norm", Kind::kNorm},
      {"group_norm", Kind::kNorm},       {"cross_entropy", Kind::kReduction},
      {"kldiv", Kind::kReduction},       {"jsd", Kind::kReduction},
      {"tv_distance", Kind::kReduction}, {"embedding", Kind::kGather},
      {"triton_rope", Kind::kPointwise}, {"dyt", Kind::kPointwise}};
  for (const Op& op : kOps) {
    const size_t at = base.find(op.text);
    if (at == std::string_view::npos || at > 7) continue;
    out.library = Library::kLiger;
    out.kind = op.kind;
    const bool backward = contains(base, "backward");
    if (!backward && op.text == "geglu_tanh") {
      out.ops = {"gelu", "mul"};  // the parts of a gated linear unit
    } else if (!backward && op.text == "swiglu") {
      out.ops = {"mul", "silu"};
    } else {
      std::string text(op.text == "triton_rope" ? "rope" : op.text);
      out.ops.push_back(backward ? text + "_backward" : std::move(text));
    }
    return true;
  }
  return false;
}

}  // namespace epi::analysis::names
