// SPDX-License-Identifier: Apache-2.0
// Collects the arithmetic of a group of nodes as a program: values inside by their nodes, values
// from outside as its inputs.
#pragma once

#include <map>
#include <vector>

#include "epilogue/compiler/codegen/program.h"
#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

class ProgramBuilder {
 public:
  // The graph must outlive it.
  explicit ProgramBuilder(const Graph& graph) : graph_(graph) {}

  // Sums of a GEMM are the first inputs.
  void add_sum(ValueId gemm);
  // An operand of `consumer` from outside; all of them come before the first step.
  void add_outside(const ValueRef& ref, const Node& consumer);
  // A pointwise node.
  void add_step(ValueId id);
  // beta * self + alpha * sum, in place of the sum.
  void finish_addmm(ValueId id);
  // The value rounded to its dtype, in its place.
  void round(ValueId id);
  void add_output(ValueId id);

  struct Outside {
    ValueRef ref;
    const Node* consumer;
    int value;  // its input
  };
  const std::vector<Outside>& outside() const { return outside_; }
  const Program& program() const { return program_; }

 private:
  int push(Step step);
  Term term(const Operand& operand) const;

  const Graph& graph_;
  Program program_;
  std::vector<Outside> outside_;
  std::map<ValueId, int> values_;
};

}  // namespace epi::compiler
