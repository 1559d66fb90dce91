// SPDX-License-Identifier: Apache-2.0
// The number type that makes pointwise/functions.h emit LLVM IR: a value of f32 lanes, or a
// constant, which needs no instruction. Operators append instructions to the code of their
// operands, and fold constants.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "epilogue/compiler/codegen/vector_code.h"
#include "epilogue/pointwise/table.h"

namespace epi::compiler {

class IrNumber {
 public:
  IrNumber(double constant)  // NOLINT: implicit from a number
      : constant_(static_cast<float>(constant)) {}
  IrNumber(VectorCode& code, IrValue value) : code_(&code), value_(std::move(value)) {}

  bool is_constant() const { return code_ == nullptr; }
  float constant() const { return constant_; }
  bool is(float value) const { return is_constant() && constant_ == value; }
  // The name of the value, or the constant in IR notation.
  IrValue text(const VectorCode& code) const {
    return is_constant() ? code.number(constant_) : value_;
  }
  VectorCode* code() const { return code_; }

 private:
  VectorCode* code_ = nullptr;
  IrValue value_;
  float constant_ = 0;
};

// The bits of a number as a wrapping unsigned integer.
class IrBits {
 public:
  IrBits(uint32_t constant) : constant_(constant) {}  // NOLINT: implicit from a number
  IrBits(int constant) : IrBits(static_cast<uint32_t>(constant)) {}  // NOLINT
  IrBits(VectorCode& code, IrValue value) : code_(&code), value_(std::move(value)) {}

  bool is_constant() const { return code_ == nullptr; }
  uint32_t constant() const { return constant_; }
  IrValue text(const VectorCode& code) const {
    return is_constant() ? code.integer(static_cast<int32_t>(constant_)) : value_;
  }
  VectorCode* code() const { return code_; }

 private:
  VectorCode* code_ = nullptr;
  IrValue value_;
  uint32_t constant_ = 0;
};

// A boolean per lane. Comparing two constants is not supported.
struct IrMask {
  VectorCode* code;
  IrValue value;
};

// Emits the function applied to these terms: its inputs, then its scalars.
IrNumber emit_function(pointwise::Function function, std::span<const IrNumber> terms);

}  // namespace epi::compiler
