// SPDX-License-Identifier: Apache-2.0
// A call of an exported kernel: maps tensors to the matrices of the manifest, binds and checks
// sizes, and selects the cheapest matching launch.
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

// An operand as a matrix. Leading dimensions are merged into rows. Each row is contiguous.
struct OperandMatrix {
  Tensor tensor;  // a copy if the caller's tensor cannot be viewed as such a matrix
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
  const OperandMatrix& output() const;  // the first output
  int64_t bytes() const;                // counts each operand once
  int64_t flops() const;
};

// `inputs` are the operands that are not outputs. Allocates the outputs, except that the first one
// is `out` if that is defined. Throws `Error` if the inputs violate a rule of the manifest:
// "[gelu_tanh_and_mul] up is 2x4, but n is 8 in the preceding operands".
BoundCall bind_call(const Export& kernel, std::span<const Tensor> inputs, const Tensor& out = {});

struct PlannedLaunch {
  const Launch* launch = nullptr;
  int64_t blocks = 0;
};
// The value of a size that is passed to the launch.
int64_t launch_size(const BoundCall& call, const Launch& launch, std::string_view name);
// Selects a launch and its number of blocks. Throws `Error` if no launch matches.
PlannedLaunch plan_launch(const BoundCall& call, int processors);

}  // namespace epi::hub
