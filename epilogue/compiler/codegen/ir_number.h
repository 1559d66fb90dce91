// SPDX-License-Identifier: Apache-2.0
// The number type with which pointwise/functions.h writes LLVM IR: a value of f32 lanes, or a
// constant, which needs no instruction. Operators append to the code of their operands; between
// constants they compute.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "epilogue/compiler/codegen/vector_code.h"
#include "epilogue/pointwise/table.h"

namespace epi::compiler {

class IrNumber {
 public:
  IrNumber(double constant)  // NOLINT: as numbers convert
      : constant_(static_cast<float>(constant)) {}
  IrNumber(VectorCode& code, IrValue value) : code_(&code), value_(std::move(value)) {}

  bool is_constant() const { return code_ == nullptr; }
  float constant() const { return constant_; }
  bool is(float value) const { return is_constant() && constant_ == value; }
  // The name of the value, or the constant as IR writes it.
  IrValue text(const VectorCode& code) const {
    return is_constant() ? code.number(constant_) : value_;
  }
  VectorCode* code() const { return code_; }

 private:
  VectorCode* code_ = nullptr;
  IrValue value_;
  float constant_ = 0;
};

// The bits of a number, as an unsigned integer that wraps.
class IrBits {
 public:
  IrBits(uint32_t constant) : constant_(constant) {}                 // NOLINT: as numbers convert
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

// A truth for each lane. Constants are not compared with each other.
struct IrMask {
  VectorCode* code;
  IrValue value;
};

// Appends the function of these terms: its inputs, then its scalars.
IrNumber emit_function(pointwise::Function function, std::span<const IrNumber> terms);

}  // namespace epi::compiler
