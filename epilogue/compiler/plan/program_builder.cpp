// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/program_builder.h"

#include <algorithm>

#include "epilogue/base/error.h"

namespace epi::compiler {
void ProgramBuilder::add_sum(ValueId product) { values_[product] = program_.inputs++; }

void ProgramBuilder::add_outside(const ValueRef& ref, const Node& consumer) {
  const bool known = std::any_of(outside_.begin(), outside_.end(),
                                 [&](const Outside& other) { return other.ref == ref; });
  if (!known) outside_.push_back({ref, &consumer, program_.inputs++});
}

void ProgramBuilder::add_step(ValueId id) {
  const Node& node = graph_[id];
  Step step;
  step.op = node.op;
  for (const Operand& operand : node.operands) {
    if (const auto* text = std::get_if<std::string>(&operand)) {
      step.by_tanh = *text == "tanh";
    } else {
      step.terms.push_back(term(operand));
    }
  }
  if (node.op == Op::kCopy_ && node.dtype != DType::kF32) step.rounded_to = node.dtype;
  values_[id] = push(std::move(step));
}

void ProgramBuilder::finish_addmm(ValueId id) {
  const Node& node = graph_[id];
  const double beta = number_in(node.operands[3]);
  const double alpha = number_in(node.operands[4]);
  Term sum{values_.at(id), 0};
  if (alpha != 1) sum.value = push({Op::kMul, {sum, {-1, alpha}}});
  if (beta != 0) sum.value = push({Op::kAdd, {sum, term(node.operands[0]), {-1, beta}}});
  values_[id] = sum.value;
}

void ProgramBuilder::round(ValueId id) {
  Step step{Op::kCopy_, {Term{values_.at(id), 0}}};
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
  throw BugError("a fused operator reads what its kernel does not");
}

}  // namespace epi::compiler
