// SPDX-License-Identifier: Apache-2.0
// Emits LLVM IR for f32 vectors of one width, or scalars: instructions, loads and stores. Operators
// are written in terms of ir_number.h. Functions that need more precision compute in f64 (`wide`).
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "epilogue/compiler/codegen/ir_writer.h"
#include "epilogue/compiler/codegen/target.h"
#include "epilogue/tensor/dtype.h"

namespace epi::compiler {

class VectorCode {
 public:
  // Both references must outlive this object. `lanes` is 1 for scalars.
  VectorCode(IrWriter& out, const Target& target, int lanes)
      : VectorCode(out, target, lanes, "float", "i32", "f32") {}
  VectorCode(const VectorCode&) = delete;  // `wide` refers to this object
  VectorCode& operator=(const VectorCode&) = delete;

  int lanes() const { return lanes_; }
  const std::string& type() const { return float_; }  // "<16 x float>"

  IrValue number(double value) const;
  IrValue add(const IrValue& a, const IrValue& b) { return binary("fadd", a, b); }
  IrValue sub(const IrValue& a, const IrValue& b) { return binary("fsub", a, b); }
  IrValue mul(const IrValue& a, const IrValue& b) { return binary("fmul", a, b); }
  IrValue neg(const IrValue& a);
  // a * b + c, rounded once if the CPU supports it.
  IrValue multiply_add(const IrValue& a, const IrValue& b, const IrValue& c);

  IrValue binary(std::string_view op, const IrValue& a, const IrValue& b);
  // Calls "llvm.<name>" on values of this code.
  IrValue intrinsic(const char* name, std::initializer_list<IrValue> arguments);
  // Returns a mask. `condition` is that of fcmp: "olt".
  IrValue compare(const char* condition, const IrValue& a, const IrValue& b);
  IrValue select(const IrValue& mask, const IrValue& then, const IrValue& otherwise);

  // The same instructions for as many lanes of f64 and 64-bit integers, without loads and stores.
  VectorCode& wide();
  // The code of which this is the wide one.
  VectorCode& narrow() const { return *narrow_; }
  // Convert a value of this code to one of `wide()`, and back.
  IrValue extended(const IrValue& x);
  IrValue truncated(const IrValue& x);

  // The same lanes as integers of the same size.
  IrValue integer(int64_t value) const;
  IrValue integers(std::string_view op, const IrValue& a, const IrValue& b);
  IrValue as_float(const IrValue& bits);
  IrValue as_bits(const IrValue& x);
  IrValue signed_to_float(const IrValue& integer);

  // Rounds as a store to this dtype followed by a load would.
  IrValue rounded(DType dtype, const IrValue& x) { return widened(dtype, narrowed(dtype, x)); }

  // Broadcasts a scalar to every lane.
  IrValue splat(const IrValue& scalar);
  // Loads adjacent elements of a dtype as f32, and stores them. Unaligned.
  IrValue load(DType dtype, const IrValue& address);
  void store(DType dtype, const IrValue& value, const IrValue& address);
  // The same for the lanes set in `mask`. Other lanes are not accessed.
  IrValue load_masked(DType dtype, const IrValue& address, const IrValue& mask);
  void store_masked(DType dtype, const IrValue& value, const IrValue& address, const IrValue& mask);
  // Loads one element into every lane, or elements `stride` (an i64) apart.
  IrValue load_splat(DType dtype, const IrValue& address);
  IrValue load_strided(DType dtype, const IrValue& address, const IrValue& stride);

  // The type of an element in memory ("i16", "float"), and the vector type of an element type.
  static std::string_view stored_type(DType dtype);
  std::string vector_of(std::string_view element) const;

 private:
  VectorCode(IrWriter& out, const Target& target, int lanes, std::string_view real,
             std::string_view integer, std::string_view suffix);
  // A constant in every lane.
  IrValue constant(std::string_view type, std::string_view value) const;
  IrValue select_below(const IrValue& a, int64_t limit, const IrValue& then,
                       const IrValue& otherwise);
  IrValue widened(DType dtype, const IrValue& stored);
  IrValue narrowed(DType dtype, const IrValue& value);
  IrValue half_to_float(const IrValue& bits);
  IrValue float_to_half(const IrValue& x);
  IrValue float_to_bf16(const IrValue& x);

  IrWriter& out_;
  const Target& target_;
  int lanes_;
  std::string_view real_;     // the type of one lane: "float" or "double"
  std::string_view integer_;  // of the same size: "i32" or "i64"
  std::string float_;
  std::string int_;
  std::string suffix_;  // of intrinsics: "v16f32"
  std::unique_ptr<VectorCode> wide_;
  VectorCode* narrow_ = nullptr;
};

}  // namespace epi::compiler
