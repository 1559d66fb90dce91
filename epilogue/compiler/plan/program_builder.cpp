// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/program_builder.h"

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/ops/pointwise_call.h"

namespace epi::compiler {
namespace {

pointwise::Function function_of(const Node& node) {
  std::string_view text;
  for (const Operand& operand : node.operands) {
    if (const auto* given = std::get_if<std::string>(&operand)) text = *given;
  }
  const auto function = pointwise_function(node.op, text);
  EPI_CHECK(function.has_value());
  return *function;
}

}  // namespace

void ProgramBuilder::add_sum(ValueId gemm) { values_[gemm] = program_.inputs++; }

void ProgramBuilder::add_outside(const ValueRef& ref, const Node& consumer) {
  const bool known = std::any_of(outside_.begin(), outside_.end(),
                                 [&](const Outside& other) { return other.ref == ref; });
  if (!known) outside_.push_back({ref, &consumer, program_.inputs++});
}

void ProgramBuilder::add_step(ValueId id) {
  const Node& node = graph_[id];
  Step step;
  if (node.op == Op::kCopy_) {
    step.terms = {term(node.operands[0])};
    if (node.dtype != DType::kF32) step.rounded_to = node.dtype;
  } else {
    step.function = function_of(node);
    const pointwise::FunctionInfo& info = pointwise::info(*step.function);
    const auto inputs = static_cast<size_t>(info.inputs);
    for (size_t i = 0; i < inputs + info.scalar_count; ++i) {
      const bool absent = std::holds_alternative<NoOperand>(node.operands[i]);
      step.terms.push_back(absent ? Term{-1, info.scalars[i - inputs].default_value}
                                  : term(node.operands[i]));
    }
  }
  values_[id] = push(std::move(step));
}

void ProgramBuilder::finish_addmm(ValueId id) {
  const Node& node = graph_[id];
  const double beta = number_in(node.operands[3]);
  const double alpha = number_in(node.operands[4]);
  Term sum{values_.at(id), 0};
  if (alpha != 1) sum.value = push({pointwise::Function::kMul, {sum, {-1, alpha}}});
  if (beta != 0)
    sum.value = push({pointwise::Function::kAdd, {sum, term(node.operands[0]), {-1, beta}}});
  values_[id] = sum.value;
}

void ProgramBuilder::finish_int8_mm(ValueId id) {
  const Node& node = graph_[id];
  Term sum{values_.at(id), 0};
  if (!int8_mm_of(graph_, node)->in_groups) {
    const Term scale = term(scale_row_of(graph_, node));
    sum.value = push({pointwise::Function::kMul, {sum, scale}});
  }
  if (std::holds_alternative<ValueRef>(node.operands[3])) {
    sum.value = push({pointwise::Function::kAdd, {sum, term(node.operands[3]), {-1, 1}}});
  }
  values_[id] = sum.value;
}

void ProgramBuilder::round(ValueId id) {
  Step step{std::nullopt, {Term{values_.at(id), 0}}};
  step.rounded_to = graph_[id].dtype;
  values_[id] = push(std::move(step));
}

void ProgramBuilder::add_output(ValueId id) { program_.outputs.push_back(values_.at(id)); }

int ProgramBuilder::push(Step step) {
  program_.steps.push_back(std::move(step));
  return program_.inputs + static_cast<int>(program_.steps.size()) - 1;
}

Term ProgramBuilder::term(const Operand& operand) const {
  const auto* ref = std::get_if<ValueRef>(&operand);
  if (ref == nullptr) return {-1, number_in(operand)};
  const auto inside = values_.find(ref->id);
  if (inside != values_.end()) return {inside->second, 0};
  for (const Outside& one : outside_) {
    if (one.ref == *ref) return {one.value, 0};
  }
  throw BugError("a fused operator reads a value that its kernel does not");
}

}  // namespace epi::compiler
