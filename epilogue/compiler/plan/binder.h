// SPDX-License-Identifier: Apache-2.0
// Fills the free sizes of a compiled graph in: where everything lies, and what kernels are called
// with.
#pragma once

#include <span>
#include <vector>

#include "epilogue/compiler/plan/bound_plan.h"

namespace epi::compiler {

class Binder {
 public:
  Binder(const CompiledGraph& compiled, BoundPlan& plan) : compiled_(compiled), plan_(plan) {}

  void bind() {
    place_given();
    place_arena();
    for (size_t i = 0; i < compiled_.kernels.size(); ++i) plan_.steps_.push_back(bind(i));
    plan_.result_ = values_[static_cast<size_t>(compiled_.result)];
    plan_.output_ = place_of(ValueRef{compiled_.graph.outputs[0], std::nullopt});
  }

 private:
  std::span<const int64_t> symbols() const { return plan_.symbols_; }

  void place_given();
  int64_t bytes_of(const ArenaValue& value) const;
  std::vector<int64_t> lay_out_slots();
  void place_arena();
  Place place_of(const ValueRef& ref) const;
  Place place_of(const Access& access) const;
  Rows rows_of(const GemmKernel& gemm) const;
  KernelCost cost_of(size_t kernel) const;
  BoundStep bind(size_t kernel) const;
  PointwiseStep bind_pointwise(size_t kernel) const;
  GemmStep bind_gemm(size_t kernel) const;
  void bind_others(size_t kernel, GemmStep& step) const;
  bool is_better_in_library(size_t kernel) const;
  LibraryStep bind_library(ValueId id) const;

  const CompiledGraph& compiled_;
  BoundPlan& plan_;
  std::vector<Place> values_;            // by number, views left out
  std::vector<int64_t> packed_offsets_;  // by kernel
};

}  // namespace epi::compiler
