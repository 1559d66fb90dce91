// SPDX-License-Identifier: Apache-2.0
#include "epilogue/c/column_builder.h"

#include <fmt/format.h>

#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/base/utf8.h"

namespace epi::c {
namespace {

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    length == 0 ? append_utf8(out, 0xFFFD) : static_cast<void>(out.append(text.substr(0, length)));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

ColumnBuilder::Type type_of(const sql::Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return ColumnBuilder::Type::kNull;
  if (std::holds_alternative<int64_t>(cell)) return ColumnBuilder::Type::kInteger;
  if (std::holds_alternative<double>(cell)) return ColumnBuilder::Type::kReal;
  return ColumnBuilder::Type::kText;
}

// Of an integer, a floating-point number or null.
double real_of(const sql::Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  const auto* number = std::get_if<int64_t>(&cell);
  return number == nullptr ? 0 : static_cast<double>(*number);
}

// The code of a cell in a column of strings.
struct AsText {
  Dictionary& dictionary;

  int32_t operator()(std::monostate) const { return 0; }
  int32_t operator()(std::string_view text) const { return dictionary.code(text); }
  template <typename Number>
  int32_t operator()(Number number) const {
    return dictionary.code(fmt::format("{}", number));
  }
  int32_t operator()(const std::string& text) const { return dictionary.code(text); }
};

}  // namespace

int32_t Dictionary::code(std::string_view text) {
  if (const auto known = codes_.find(text); known != codes_.end()) return known->second;
  const auto code = static_cast<int32_t>(codes_.size());
  bytes_ += is_utf8(text) ? std::string(text) : valid_utf8(text);
  if (bytes_.size() > INT32_MAX || codes_.size() == INT32_MAX) {
    throw Error("a column has more than 2 GB of distinct strings: select fewer rows");
  }
  ends_.push_back(static_cast<int32_t>(bytes_.size()));
  codes_.emplace(text, code);
  return code;
}

void ColumnBuilder::add(const sql::Cell& cell) {
  const bool is_null = std::holds_alternative<std::monostate>(cell);
  const Type needed = type_of(cell);
  if (needed > type_) become(needed);
  push(cell);
  push_validity(!is_null);
  null_count_ += is_null ? 1 : 0;
  ++size_;
}

void ColumnBuilder::finish() {
  if (type_ == Type::kNull) become(Type::kInteger);
}

const void* ColumnBuilder::values() const {
  switch (type_) {
    case Type::kNull:
      return nullptr;
    case Type::kInteger:
      return integers_.data();
    case Type::kReal:
      return reals_.data();
    case Type::kText:
      return codes_.data();
  }
  return nullptr;
}

void ColumnBuilder::become(Type type) {
  const auto rows = static_cast<size_t>(size_);
  if (type == Type::kInteger) {
    integers_.assign(rows, 0);
  } else if (type == Type::kReal) {
    reals_.assign(integers_.begin(), integers_.end());
    reals_.resize(rows);
  } else {
    codes_.assign(rows, 0);
    for (size_t row = 0; row < rows && type_ != Type::kNull; ++row) {
      if (!is_valid(row)) continue;
      codes_[row] = dictionary_.code(type_ == Type::kInteger ? fmt::format("{}", integers_[row])
                                                             : fmt::format("{}", reals_[row]));
    }
  }
  type_ = type;
  if (type != Type::kInteger) integers_ = {};
  if (type != Type::kReal) reals_ = {};
}

void ColumnBuilder::push(const sql::Cell& cell) {
  switch (type_) {
    case Type::kNull:
      return;
    case Type::kInteger:
      integers_.push_back(cell.index() == 0 ? 0 : std::get<int64_t>(cell));
      return;
    case Type::kReal:
      reals_.push_back(real_of(cell));
      return;
    case Type::kText:
      codes_.push_back(std::visit(AsText{dictionary_}, cell));
  }
}

void ColumnBuilder::push_validity(bool is_valid) {
  if (size_ % 8 == 0) validity_.push_back(0);
  if (is_valid) validity_.back() |= static_cast<uint8_t>(1U << (size_ % 8));
}

}  // namespace epi::c
