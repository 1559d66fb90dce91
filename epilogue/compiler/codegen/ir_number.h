// SPDX-License-Identifier: Apache-2.0
// The number type that makes pointwise/functions.h emit LLVM IR: a value of f32 or f64 lanes, or a
// constant, which needs no instruction. Operators append instructions to the code of their
// operands, and fold constants.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "epilogue/compiler/codegen/vector_code.h"
#include "epilogue/pointwise/table.h"

namespace epi::compiler {

// T is float or double. The code of a double is `VectorCode::wide()` of the function's code.
template <typename T>
class IrReal {
 public:
  IrReal(double constant)  // NOLINT: implicit from a number
      : constant_(static_cast<T>(constant)) {}
  IrReal(VectorCode& code, IrValue value) : code_(&code), value_(std::move(value)) {}

  bool is_constant() const { return code_ == nullptr; }
  T constant() const { return constant_; }
  bool is(T value) const { return is_constant() && constant_ == value; }
  // The name of the value, or the constant in IR notation.
  IrValue text(const VectorCode& code) const {
    return is_constant() ? code.number(constant_) : value_;
  }
  VectorCode* code() const { return code_; }

 private:
  VectorCode* code_ = nullptr;
  IrValue value_;
  T constant_ = 0;
};
using IrNumber = IrReal<float>;
using IrDouble = IrReal<double>;

// The bits of a number as a wrapping integer of the same size.
class IrBits {
 public:
  IrBits(int64_t constant) : constant_(constant) {}  // NOLINT: implicit from a number
  IrBits(VectorCode& code, IrValue value) : code_(&code), value_(std::move(value)) {}

  bool is_constant() const { return code_ == nullptr; }
  IrValue text(const VectorCode& code) const {
    return is_constant() ? code.integer(constant_) : value_;
  }
  VectorCode* code() const { return code_; }

 private:
  VectorCode* code_ = nullptr;
  IrValue value_;
  int64_t constant_ = 0;
};

// A boolean per lane, or one that is known when the code is generated.
class IrMask {
 public:
  IrMask(bool constant) : constant_(constant) {}  // NOLINT: implicit from a truth value
  IrMask(VectorCode& code, IrValue value) : code_(&code), value_(std::move(value)) {}

  bool is_constant() const { return code_ == nullptr; }
  bool constant() const { return constant_; }
  VectorCode& code() const { return *code_; }
  const IrValue& value() const { return value_; }

 private:
  VectorCode* code_ = nullptr;
  IrValue value_;
  bool constant_ = false;
};

// Emits the function applied to these terms: its inputs, then its scalars.
IrNumber emit_function(pointwise::Function function, std::span<const IrNumber> terms);

}  // namespace epi::compiler
