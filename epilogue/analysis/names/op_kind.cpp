// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/op_kind.h"

#include <algorithm>
#include <iterator>

#include "epilogue/analysis/names/families.h"

namespace epi::analysis {
namespace {

// Operators whose names have no word of `read_plain_words`, without "aten::", "_" and "_out".
struct OpKind {
  std::string_view op;
  Kind kind;
};
constexpr OpKind kOps[] = {{"mm", Kind::kGemm},          {"addmm", Kind::kGemm},
                           {"bmm", Kind::kGemm},         {"baddbmm", Kind::kGemm},
                           {"linear", Kind::kGemm},      {"addmv", Kind::kGemv},
                           {"mv", Kind::kGemv},          {"dot", Kind::kReduction},
                           {"sum", Kind::kReduction},    {"mean", Kind::kReduction},
                           {"max", Kind::kReduction},    {"min", Kind::kReduction},
                           {"amax", Kind::kReduction},   {"amin", Kind::kReduction},
                           {"cumsum", Kind::kReduction}, {"argmax", Kind::kReduction},
                           {"cat", Kind::kCopy},         {"stack", Kind::kCopy},
                           {"clone", Kind::kCopy},       {"contiguous", Kind::kCopy},
                           {"to", Kind::kCopy},          {"roll", Kind::kCopy},
                           {"fill", Kind::kPointwise},   {"zero", Kind::kPointwise},
                           {"add", Kind::kPointwise},    {"sub", Kind::kPointwise},
                           {"mul", Kind::kPointwise},    {"div", Kind::kPointwise},
                           {"neg", Kind::kPointwise},    {"exp", Kind::kPointwise},
                           {"log", Kind::kPointwise},    {"pow", Kind::kPointwise},
                           {"sqrt", Kind::kPointwise},   {"rsqrt", Kind::kPointwise},
                           {"tanh", Kind::kPointwise},   {"sigmoid", Kind::kPointwise},
                           {"relu", Kind::kPointwise},   {"clamp", Kind::kPointwise},
                           {"where", Kind::kPointwise},  {"masked_fill", Kind::kPointwise}};

}  // namespace

Kind kind_of_op(std::string_view op) {
  const bool is_collective =
      op.starts_with("c10d::") || op.starts_with("nccl:") || op.starts_with("record_param_comms");
  if (is_collective) return Kind::kComm;
  if (op.starts_with("Optimizer.")) return Kind::kOptimizer;
  const size_t scope = op.rfind("::");
  if (scope != std::string_view::npos) op.remove_prefix(scope + 2);
  DecodedName decoded;
  names::read_plain_words(op, decoded);
  if (decoded.kind != Kind::kUnknown) return decoded.kind;
  while (op.starts_with('_')) op.remove_prefix(1);
  if (op.starts_with("foreach_")) return Kind::kPointwise;
  if (op.ends_with("_out")) op.remove_suffix(4);
  if (op.ends_with("_backward")) op.remove_suffix(9);
  if (op.ends_with('_')) op.remove_suffix(1);
  const auto found = std::find_if(std::begin(kOps), std::end(kOps),
                                  [&](const OpKind& one) { return one.op == op; });
  return found == std::end(kOps) ? Kind::kUnknown : found->kind;
}

}  // namespace epi::analysis
