// SPDX-License-Identifier: Apache-2.0
// A short list of sizes or strides, stored inline, so creating a view does not allocate.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace epi {

// ATen's kernels collapse to far fewer dimensions. DLPack tensors and safetensors files stay below
// this limit in practice.
inline constexpr int kMaxRank = 8;

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values);
  // `rank` copies of `value`.
  static Dims filled(int rank, int64_t value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int i) const { return values_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return values_[static_cast<size_t>(i)]; }
  int64_t back() const { return values_[static_cast<size_t>(rank_ - 1)]; }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  std::span<const int64_t> span() const { return {begin(), end()}; }

  void push_back(int64_t value);
  void insert(int at, int64_t value);
  void erase(int at);

  bool operator==(const Dims& other) const;

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

// "[64, 128, 768]".
std::string to_string(const Dims& dims);

}  // namespace epi
