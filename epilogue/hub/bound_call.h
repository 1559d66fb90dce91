// SPDX-License-Identifier: Apache-2.0
// A call of an export: tensors as the matrices that the manifest describes, its sizes filled in and
// held against its rules, and the launch that suits them best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/hub/manifest.h"
#include "epilogue/tensor/tensor.h"

namespace epi::hub {

// An operand: leading sizes are taken together as rows; dense within a row.
struct OperandMatrix {
  Tensor tensor;  // a copy of the caller's where it was not such a matrix
  std::byte* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
};

struct BoundCall {
  const Export* kernel = nullptr;
  DType dtype = DType::kF32;
  std::vector<OperandMatrix> operands;  // in the manifest's order
  std::vector<std::pair<std::string_view, int64_t>> sizes;

  int64_t size(std::string_view name) const;
  const OperandMatrix& output() const;  // the first
  int64_t bytes() const;                // each operand once
  int64_t flops() const;
};

// `inputs` are the operands that are no outputs; those are made. Throws `Error` for what breaks a
// rule of the manifest: "[gelu_tanh_and_mul] up is 2x4, n is 8 by gate".
BoundCall bind_call(const Export& kernel, std::span<const Tensor> inputs);

struct PlannedLaunch {
  const Launch* launch = nullptr;
  int64_t blocks = 0;
};
// The value of a size as the launch gets it.
int64_t launch_size(const BoundCall& call, const Launch& launch, std::string_view name);
// Throws `Error` where none suits.
PlannedLaunch plan_launch(const BoundCall& call, int processors);

}  // namespace epi::hub
