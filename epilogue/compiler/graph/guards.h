// SPDX-License-Identifier: Apache-2.0
// What the inputs of a call must be like for a variant to take it: one flat comparison, and the
// sizes that are free read off on the way.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/graph/capture.h"

namespace epi::compiler {

class Guards {
 public:
  Guards() = default;  // accepts a call without inputs
  Guards(const Captured& captured, std::span<const Tensor> inputs);

  // The values of the free sizes are written to `symbols`, which has room for them.
  bool accept(std::span<const Tensor> inputs, std::span<int64_t> symbols) const;
  size_t symbols() const { return symbols_; }
  // The first thing that keeps these inputs out: "x0 is bf16, was f32".
  std::string refusal(std::span<const Tensor> inputs) const;

 private:
  struct Size {
    int symbol = -1;  // free, or
    int64_t value = 0;
  };
  struct Input {
    DType dtype = DType::kF32;
    Device device;
    std::vector<Size> shape;
    InputLayout layout;
    Dims strides;  // of the first call, to be named
    std::string name;
  };
  std::vector<Input> inputs_;
  size_t symbols_ = 0;
};

}  // namespace epi::compiler
