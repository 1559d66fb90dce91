// SPDX-License-Identifier: Apache-2.0
// Arithmetic on vectors of f32 of one width, or on single ones, as LLVM IR. The functions of
// numbers are the polynomials of cpu/loops/math.h, so that compiled and eager results agree to the
// last few bits.
#pragma once

#include <span>
#include <string>

#include "epilogue/compiler/codegen/ir_writer.h"
#include "epilogue/compiler/codegen/target.h"
#include "epilogue/tensor/dtype.h"

namespace epi::compiler {

class VectorCode {
 public:
  // Both must outlive it; `lanes` is 1 for single numbers.
  VectorCode(IrWriter& out, const Target& target, int lanes);

  int lanes() const { return lanes_; }
  const std::string& type() const { return float_; }  // "<16 x float>"

  IrValue number(double value) const;
  IrValue add(const IrValue& a, const IrValue& b) { return binary("fadd", a, b); }
  IrValue sub(const IrValue& a, const IrValue& b) { return binary("fsub", a, b); }
  IrValue mul(const IrValue& a, const IrValue& b) { return binary("fmul", a, b); }
  IrValue div(const IrValue& a, const IrValue& b) { return binary("fdiv", a, b); }
  IrValue neg(const IrValue& a);
  // a * b + c, rounded once where the CPU can.
  IrValue multiply_add(const IrValue& a, const IrValue& b, const IrValue& c);

  IrValue relu(const IrValue& x);
  IrValue exp(const IrValue& x);
  IrValue tanh(const IrValue& x);
  IrValue sigmoid(const IrValue& x);
  IrValue silu(const IrValue& x);
  IrValue gelu(const IrValue& x);
  IrValue gelu_tanh(const IrValue& x);

  // As after a store to this dtype and a load from it.
  IrValue rounded(DType dtype, const IrValue& x) { return widened(dtype, narrowed(dtype, x)); }

  // One number in every lane.
  IrValue splat(const IrValue& scalar);
  // Elements of a dtype at an address, as f32 and back; unaligned, next to each other.
  IrValue load(DType dtype, const IrValue& address);
  void store(DType dtype, const IrValue& value, const IrValue& address);
  // The same for those lanes that `mask` has; others are not touched.
  IrValue load_masked(DType dtype, const IrValue& address, const IrValue& mask);
  void store_masked(DType dtype, const IrValue& value, const IrValue& address, const IrValue& mask);
  // One element in every lane; and elements `stride` (an i64) apart.
  IrValue load_splat(DType dtype, const IrValue& address);
  IrValue load_strided(DType dtype, const IrValue& address, const IrValue& stride);

  // Elements as they lie in memory ("i16", "float") and the vector of them.
  static std::string_view stored_type(DType dtype);
  std::string vector_of(std::string_view element) const;

 private:
  IrValue binary(std::string_view op, const IrValue& a, const IrValue& b);
  IrValue select_less(const IrValue& a, const IrValue& b, const IrValue& then,
                      const IrValue& otherwise);
  IrValue select_below(const IrValue& a, int64_t limit, const IrValue& then,
                       const IrValue& otherwise);
  IrValue clamp(const IrValue& x, double low, double high);
  IrValue polynomial(std::span<const double> terms, const IrValue& x);
  IrValue magnitude(const IrValue& x);
  IrValue integer(int64_t value) const;
  IrValue as_float(const IrValue& bits);
  IrValue as_bits(const IrValue& x);
  IrValue power_of_two(const IrValue& n);
  struct Reduced {
    IrValue n;
    IrValue r;
  };
  Reduced reduce(const IrValue& x);
  IrValue normal_cdf(const IrValue& x);
  IrValue widened(DType dtype, const IrValue& stored);
  IrValue narrowed(DType dtype, const IrValue& value);
  IrValue half_to_float(const IrValue& bits);
  IrValue float_to_half(const IrValue& x);
  IrValue float_to_bf16(const IrValue& x);

  IrWriter& out_;
  const Target& target_;
  int lanes_;
  std::string float_;
  std::string int_;
  std::string suffix_;  // of intrinsics: "v16f32"
};

}  // namespace epi::compiler
