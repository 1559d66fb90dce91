// SPDX-License-Identifier: Apache-2.0
// Columns of integers, floating-point numbers or strings, in the memory layout of Arrow. A column
// takes the type of its cells: integers become floating-point numbers when one appears, and numbers
// become strings when a string appears.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epilogue/sql/tables.h"

namespace epi::c {

// The distinct strings of a column, in the order of their first rows.
class Dictionary {
 public:
  // The code of a string. Bytes that are not UTF-8 are replaced, because Arrow requires it.
  int32_t code(std::string_view text);

  int64_t size() const { return static_cast<int64_t>(ends_.size()) - 1; }
  const int32_t* offsets() const { return ends_.data(); }
  const char* bytes() const { return bytes_.data(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> codes_;
  std::vector<int32_t> ends_{0};  // where each text ends in `bytes_`, after a zero
  std::string bytes_;
};

class ColumnBuilder {
 public:
  // Each type can hold the values of those before it.
  enum class Type : uint8_t { kNull, kInteger, kReal, kText };

  explicit ColumnBuilder(std::string name, Type type = Type::kNull)
      : name_(std::move(name)), type_(type) {}

  void add(const sql::Cell& cell);
  // A column that has only nulls becomes one of integers.
  void finish();

  const std::string& name() const { return name_; }
  Type type() const { return type_; }
  int64_t size() const { return size_; }
  int64_t null_count() const { return null_count_; }
  // One bit per row. Null if no cell is null.
  const uint8_t* validity() const { return null_count_ == 0 ? nullptr : validity_.data(); }
  const void* values() const;
  const Dictionary& dictionary() const { return dictionary_; }

 private:
  // Converts the rows so far.
  void become(Type type);
  void push(const sql::Cell& cell);
  void push_validity(bool is_valid);
  bool is_valid(size_t row) const { return (validity_[row / 8] >> (row % 8) & 1) != 0; }

  std::string name_;
  Type type_;
  int64_t size_ = 0;
  int64_t null_count_ = 0;
  std::vector<uint8_t> validity_;
  // The rows, in the vector of the type. The value of a null is zero.
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
  std::vector<int32_t> codes_;
  Dictionary dictionary_;
};

}  // namespace epi::c
