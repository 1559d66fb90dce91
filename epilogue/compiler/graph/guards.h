// SPDX-License-Identifier: Apache-2.0
// The conditions on the inputs of a call for a variant to accept it. One flat comparison, which
// also extracts the dynamic sizes.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/graph/capture.h"

namespace epi::compiler {

class Guards {
 public:
  Guards() = default;  // accepts a call without inputs
  Guards(const Captured& captured, std::span<const Tensor> inputs);

  // Writes the values of the dynamic sizes and integers to `symbols`, which must have room for
  // them.
  bool accept(const CallArgs& args, std::span<int64_t> symbols) const;
  size_t symbols() const { return symbols_; }
  size_t inputs() const { return inputs_.size(); }
  size_t integers() const { return integers_.size(); }
  // The fixed sizes that the inputs of another call do not have. Empty if their ranks differ.
  std::set<InputDim> changed_sizes(std::span<const Tensor> inputs) const;
  // The first mismatch: "x0 is bf16, was f32".
  std::string mismatch(const CallArgs& args) const;

 private:
  struct Size {
    int symbol = -1;  // -1: the size is fixed to `value`
    int64_t value = 0;
  };
  struct Dimension {
    int index = 0;
    Size size;
    int64_t stride = 0;  // or InputLayout::kFollows
  };
  struct Input {
    DType dtype = DType::kF32;
    Device device;
    std::vector<Dimension> dims;  // slowest first
    Dims strides;                 // of the first call, for messages
    std::string name;
  };
  static Size size_for(const SymSize& size);
  static bool accept(const Tensor& x, const Input& expected, std::span<int64_t> symbols);
  std::string mismatch_of_inputs(std::span<const Tensor> inputs) const;

  std::vector<Input> inputs_;
  std::vector<Size> integers_;
  size_t symbols_ = 0;
};

}  // namespace epi::compiler
