// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/vector_code.h"

#include "epilogue/base/error.h"

namespace epi::compiler {

VectorCode::VectorCode(IrWriter& out, const Target& target, int lanes, std::string_view real,
                       std::string_view integer, std::string_view suffix)
    : out_(out),
      target_(target),
      lanes_(lanes),
      real_(real),
      integer_(integer),
      float_(vector_of(real)),
      int_(vector_of(integer)),
      suffix_(lanes == 1 ? std::string(suffix) : fmt::format("v{}{}", lanes, suffix)) {}

VectorCode& VectorCode::wide() {
  if (wide_ == nullptr) {
    wide_.reset(new VectorCode(out_, target_, lanes_, "double", "i64", "f64"));
    wide_->narrow_ = this;
  }
  return *wide_;
}

IrValue VectorCode::extended(const IrValue& x) {
  return out_.let("fpext {} {} to {}", float_, x, vector_of("double"));
}

IrValue VectorCode::truncated(const IrValue& x) {
  return out_.let("fptrunc {} {} to {}", vector_of("double"), x, float_);
}

std::string VectorCode::vector_of(std::string_view element) const {
  return lanes_ == 1 ? std::string(element) : fmt::format("<{} x {}>", lanes_, element);
}

std::string_view VectorCode::stored_type(DType dtype) {
  if (dtype == DType::kF32) return "float";
  if (dtype == DType::kI8) return "i8";
  EPI_CHECK(dtype == DType::kBF16 || dtype == DType::kF16);
  return "i16";
}

IrValue VectorCode::constant(std::string_view type, std::string_view value) const {
  return lanes_ == 1 ? std::string(value) : fmt::format("splat ({} {})", type, value);
}

IrValue VectorCode::number(double value) const {
  if (real_ != "float") return constant(real_, double_bits(value));
  const IrValue number = constant(real_, float_bits(value));
  return lanes_ > 1 && out_.hoists_constants() ? out_.hoisted(float_, number) : number;
}

IrValue VectorCode::integer(int64_t value) const {
  return constant(integer_, fmt::format("{}", value));
}

IrValue VectorCode::binary(std::string_view op, const IrValue& a, const IrValue& b) {
  return out_.let("{} {} {}, {}", op, float_, a, b);
}

IrValue VectorCode::neg(const IrValue& a) { return out_.let("fneg {} {}", float_, a); }

IrValue VectorCode::multiply_add(const IrValue& a, const IrValue& b, const IrValue& c) {
  return intrinsic("fmuladd", {a, b, c});
}

IrValue VectorCode::as_float(const IrValue& bits) {
  return out_.let("bitcast {} {} to {}", int_, bits, float_);
}

IrValue VectorCode::as_bits(const IrValue& x) {
  return out_.let("bitcast {} {} to {}", float_, x, int_);
}

IrValue VectorCode::intrinsic(const char* name, std::initializer_list<IrValue> arguments) {
  std::string list;
  for (const IrValue& argument : arguments) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", float_, argument);
  }
  return out_.let("call {} @llvm.{}.{}({})", float_, name, suffix_, list);
}

IrValue VectorCode::compare(const char* condition, const IrValue& a, const IrValue& b) {
  return out_.let("fcmp {} {} {}, {}", condition, float_, a, b);
}

IrValue VectorCode::select(const IrValue& mask, const IrValue& then, const IrValue& otherwise) {
  return out_.let("select {0} {1}, {2} {3}, {2} {4}", vector_of("i1"), mask, float_, then,
                  otherwise);
}

IrValue VectorCode::integers(std::string_view op, const IrValue& a, const IrValue& b) {
  return out_.let("{} {} {}, {}", op, int_, a, b);
}

IrValue VectorCode::signed_to_float(const IrValue& integer) {
  return out_.let("sitofp {} {} to {}", int_, integer, float_);
}

IrValue VectorCode::splat(const IrValue& scalar) {
  if (lanes_ == 1) return scalar;
  const IrValue first = out_.let("insertelement {0} poison, float {1}, i32 0", float_, scalar);
  return out_.let("shufflevector {0} {1}, {0} poison, {2} zeroinitializer", float_, first, int_);
}

IrValue VectorCode::load(DType dtype, const IrValue& address) {
  const IrValue stored = out_.let("load {}, ptr {}, align {}", vector_of(stored_type(dtype)),
                                  address, size_bytes(dtype));
  return widened(dtype, stored);
}

void VectorCode::store(DType dtype, const IrValue& value, const IrValue& address) {
  const IrValue stored = narrowed(dtype, value);
  out_.line("store {} {}, ptr {}, align {}", vector_of(stored_type(dtype)), stored, address,
            size_bytes(dtype));
}

IrValue VectorCode::load_masked(DType dtype, const IrValue& address, const IrValue& mask) {
  const std::string type = vector_of(stored_type(dtype));
  const IrValue stored = out_.let(
      "call {0} @llvm.masked.load.v{1}{2}.p0(ptr {3}, i32 {4}, <{1} x i1> {5}, {0} "
      "zeroinitializer)",
      type, lanes_, dtype == DType::kF32 ? "f32" : "i16", address, size_bytes(dtype), mask);
  return widened(dtype, stored);
}

void VectorCode::store_masked(DType dtype, const IrValue& value, const IrValue& address,
                              const IrValue& mask) {
  const IrValue stored = narrowed(dtype, value);
  out_.line("call void @llvm.masked.store.v{0}{1}.p0({2} {3}, ptr {4}, i32 {5}, <{0} x i1> {6})",
            lanes_, dtype == DType::kF32 ? "f32" : "i16", vector_of(stored_type(dtype)), stored,
            address, size_bytes(dtype), mask);
}

IrValue VectorCode::load_splat(DType dtype, const IrValue& address) {
  VectorCode one(out_, target_, 1);
  return splat(one.load(dtype, address));
}

IrValue VectorCode::load_strided(DType dtype, const IrValue& address, const IrValue& stride) {
  if (lanes_ == 1) return load(dtype, address);
  const std::string_view element = stored_type(dtype);
  IrValue stored = "poison";
  IrValue at = address;
  for (int lane = 0; lane < lanes_; ++lane) {
    const IrValue one = out_.let("load {}, ptr {}, align {}", element, at, size_bytes(dtype));
    stored = out_.let("insertelement {} {}, {} {}, i32 {}", vector_of(element), stored, element,
                      one, lane);
    if (lane + 1 < lanes_) at = out_.let("getelementptr {}, ptr {}, i64 {}", element, at, stride);
  }
  return widened(dtype, stored);
}

IrValue VectorCode::widened(DType dtype, const IrValue& stored) {
  if (dtype == DType::kF32) return stored;
  if (dtype == DType::kI8) {
    return signed_to_float(out_.let("sext {} {} to {}", vector_of("i8"), stored, int_));
  }
  if (dtype == DType::kF16 && target_.converts_f16) {
    const IrValue half =
        out_.let("bitcast {} {} to {}", vector_of("i16"), stored, vector_of("half"));
    return out_.let("fpext {} {} to {}", vector_of("half"), half, float_);
  }
  const IrValue bits = out_.let("zext {} {} to {}", vector_of("i16"), stored, int_);
  if (dtype == DType::kF16) return half_to_float(bits);
  return as_float(out_.let("shl {} {}, {}", int_, bits, integer(16)));
}

IrValue VectorCode::narrowed(DType dtype, const IrValue& value) {
  if (dtype == DType::kF32) return value;
  if (dtype == DType::kF16 && target_.converts_f16) {
    const IrValue half = out_.let("fptrunc {} {} to {}", float_, value, vector_of("half"));
    return out_.let("bitcast {} {} to {}", vector_of("half"), half, vector_of("i16"));
  }
  if (dtype == DType::kBF16 && target_.bfmmla) {
    const IrValue rounded = out_.let("fptrunc {} {} to {}", float_, value, vector_of("bfloat"));
    return out_.let("bitcast {} {} to {}", vector_of("bfloat"), rounded, vector_of("i16"));
  }
  const IrValue bits = dtype == DType::kF16 ? float_to_half(value) : float_to_bf16(value);
  return out_.let("trunc {} {} to {}", int_, bits, vector_of("i16"));
}

// Rounds to nearest, ties to even. NaN stays NaN. Same algorithm as tensor/dtype.h.
IrValue VectorCode::float_to_bf16(const IrValue& x) {
  const IrValue word = as_bits(x);
  const IrValue high = out_.let("lshr {} {}, {}", int_, word, integer(16));
  const IrValue odd = out_.let("and {} {}, {}", int_, high, integer(1));
  const IrValue bias = out_.let("add {} {}, {}", int_, odd, integer(0x7FFF));
  const IrValue sum = out_.let("add {} {}, {}", int_, word, bias);
  const IrValue rounded = out_.let("lshr {} {}, {}", int_, sum, integer(16));
  const IrValue quiet = out_.let("or {} {}, {}", int_, high, integer(0x40));
  const IrValue is_nan = out_.let("fcmp uno {} {}, {}", float_, x, x);
  return out_.let("select {0} {1}, {2} {3}, {2} {4}", vector_of("i1"), is_nan, int_, quiet,
                  rounded);
}

// Compares as unsigned integers.
IrValue VectorCode::select_below(const IrValue& a, int64_t limit, const IrValue& then,
                                 const IrValue& otherwise) {
  const IrValue below = out_.let("icmp ult {} {}, {}", int_, a, integer(limit));
  return out_.let("select {0} {1}, {2} {3}, {2} {4}", vector_of("i1"), below, int_, then,
                  otherwise);
}

// Same algorithm as Half in tensor/dtype.h, branch-free: computes all cases and selects one.
IrValue VectorCode::half_to_float(const IrValue& bits) {
  const IrValue magnitude = out_.let("and {} {}, {}", int_, bits, integer(0x7FFF));
  const IrValue sign_bit = out_.let("and {} {}, {}", int_, bits, integer(0x8000));
  const IrValue sign = out_.let("shl {} {}, {}", int_, sign_bit, integer(16));
  const IrValue shifted = out_.let("shl {} {}, {}", int_, magnitude, integer(13));
  const IrValue normal = out_.let("add {} {}, {}", int_, shifted, integer(112LL << 23));
  const IrValue based = out_.let("add {} {}, {}", int_, shifted, integer(113LL << 23));
  const IrValue fraction = as_bits(sub(as_float(based), number(0x1p-14)));
  const IrValue infinite = out_.let("or {} {}, {}", int_, shifted, integer(0x7F800000));
  const IrValue finite = select_below(magnitude, 0x400, fraction, normal);
  const IrValue word = select_below(magnitude, 0x7C00, finite, infinite);
  return as_float(out_.let("or {} {}, {}", int_, word, sign));
}

IrValue VectorCode::float_to_half(const IrValue& x) {
  const IrValue word = as_bits(x);
  const IrValue high = out_.let("lshr {} {}, {}", int_, word, integer(16));
  const IrValue sign = out_.let("and {} {}, {}", int_, high, integer(0x8000));
  const IrValue magnitude = out_.let("and {} {}, {}", int_, word, integer(0x7FFFFFFF));
  const IrValue shifted = as_bits(add(as_float(magnitude), number(0.5)));
  const IrValue subnormal = out_.let("sub {} {}, {}", int_, shifted, integer(0x3F000000));
  const IrValue kept = out_.let("lshr {} {}, {}", int_, magnitude, integer(13));
  const IrValue odd = out_.let("and {} {}, {}", int_, kept, integer(1));
  const IrValue bias = out_.let("add {} {}, {}", int_, odd, integer(0xFFF - 0x38000000LL));
  const IrValue rebased = out_.let("add {} {}, {}", int_, magnitude, bias);
  const IrValue normal = out_.let("lshr {} {}, {}", int_, rebased, integer(13));
  const IrValue finite = select_below(magnitude, 0x38800000, subnormal, normal);
  const IrValue bounded = select_below(magnitude, 0x477FF000, finite, integer(0x7C00));
  const IrValue half = select_below(magnitude, 0x7F800001, bounded, integer(0x7E00));
  return out_.let("or {} {}, {}", int_, half, sign);
}

}  // namespace epi::compiler
