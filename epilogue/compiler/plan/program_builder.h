// SPDX-License-Identifier: Apache-2.0
// Builds a program from the arithmetic of a group of nodes. Values inside the group are identified
// by their nodes, external values are the program's inputs.
#pragma once

#include <map>
#include <vector>

#include "epilogue/compiler/codegen/program.h"
#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

class ProgramBuilder {
 public:
  // The graph must outlive the builder.
  explicit ProgramBuilder(const Graph& graph) : graph_(graph) {}

  // Adds the sum of a GEMM. The sums are the first inputs.
  void add_sum(ValueId gemm);
  // Adds an external operand of `consumer`. All of them must precede the first step.
  void add_outside(const ValueRef& ref, const Node& consumer);
  // Adds a pointwise node.
  void add_step(ValueId id);
  // Replaces the sum by beta * self + alpha * sum.
  void finish_addmm(ValueId id);
  // Multiplies the sum by its column's scale, unless the scales are packed, and adds the bias.
  void finish_int8_mm(ValueId id);
  // Replaces the value by its rounding to its dtype.
  void round(ValueId id);
  void add_output(ValueId id);

  struct Outside {
    ValueRef ref;
    const Node* consumer;
    int value;  // its index in the program's inputs
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
