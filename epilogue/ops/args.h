// SPDX-License-Identifier: Apache-2.0
// The arguments of one operator call, in ATen's order. An `Arg` refers to the caller's values and
// is valid only during the call: a listener that keeps arguments must copy them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string_view>

#include "epilogue/base/error.h"
#include "epilogue/tensor/tensor.h"

namespace epi {

namespace detail {

// A call whose arguments are not those that its operator reads. The dispatcher adds the name of the
// operator and throws an Error.
class ArgumentMismatch : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace detail

class Arg {
 public:
  enum class Kind : uint8_t { kNone, kTensor, kTensors, kInt, kFloat, kBool, kInts, kString };

  Arg() = default;
  // An undefined tensor is an absent optional argument.
  Arg(const Tensor& tensor) : kind_(tensor.defined() ? Kind::kTensor : Kind::kNone) {  // NOLINT
    value_.tensor = &tensor;
  }
  Arg(std::span<const Tensor> tensors) : kind_(Kind::kTensors), size_(tensors.size()) {  // NOLINT
    value_.tensor = tensors.data();
  }
  Arg(int64_t number) : kind_(Kind::kInt) { value_.integer = number; }     // NOLINT
  Arg(int number) : Arg(static_cast<int64_t>(number)) {}                   // NOLINT
  Arg(double number) : kind_(Kind::kFloat) { value_.real = number; }       // NOLINT
  Arg(bool flag) : kind_(Kind::kBool) { value_.integer = flag ? 1 : 0; }   // NOLINT
  Arg(const Dims& dims) : kind_(Kind::kInts) { value_.dims = &dims; }      // NOLINT
  Arg(const char* text) : Arg(std::string_view(text)) {}                   // NOLINT
  Arg(std::string_view text) : kind_(Kind::kString), size_(text.size()) {  // NOLINT
    value_.text = text.data();
  }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }

  const Tensor& tensor() const { return *check(Kind::kTensor).value_.tensor; }
  std::span<const Tensor> tensors() const { return {check(Kind::kTensors).value_.tensor, size_}; }
  int64_t integer() const { return check(Kind::kInt).value_.integer; }
  bool flag() const { return check(Kind::kBool).value_.integer != 0; }
  const Dims& ints() const { return *check(Kind::kInts).value_.dims; }
  std::string_view text() const { return {check(Kind::kString).value_.text, size_}; }
  // The value of an integer or floating-point argument.
  double number() const {
    return kind_ == Kind::kInt ? static_cast<double>(value_.integer)
                               : check(Kind::kFloat).value_.real;
  }

 private:
  const Arg& check(Kind expected) const {
    if (kind_ != expected) [[unlikely]]
      fail_kind(expected);
    return *this;
  }
  [[noreturn]] void fail_kind(Kind expected) const;

  union Value {
    const Tensor* tensor;
    const Dims* dims;
    const char* text;
    int64_t integer;
    double real;
  };
  Kind kind_ = Kind::kNone;
  size_t size_ = 0;
  Value value_{};
};

// Passes a whole number as an integer, as ATen does: `alpha` and `beta` are 1, not 1.0.
inline Arg factor(double value) {
  const auto whole = static_cast<int64_t>(std::clamp(value, -1e15, 1e15));
  return static_cast<double>(whole) == value ? Arg(whole) : Arg(value);
}

// Read access to an operator's arguments by position.
class Args {
 public:
  explicit Args(std::span<const Arg> args) : args_(args) {}

  size_t size() const { return args_.size(); }
  const Arg& operator[](size_t i) const {
    if (i >= args_.size()) [[unlikely]]
      fail_count(i);
    return args_[i];
  }
  const Tensor& tensor(size_t i) const { return (*this)[i].tensor(); }
  // The tensor at `i`, or an undefined one if the argument is absent.
  Tensor optional_tensor(size_t i) const {
    return (*this)[i].is_none() ? Tensor() : (*this)[i].tensor();
  }
  auto begin() const { return args_.begin(); }
  auto end() const { return args_.end(); }

 private:
  [[noreturn]] void fail_count(size_t position) const;
  std::span<const Arg> args_;
};

}  // namespace epi
