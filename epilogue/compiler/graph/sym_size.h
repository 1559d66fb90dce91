// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: sums of products of symbols, such as s0*s1*768 or s0 + 1. The symbols are the
// dynamic sizes of a function's inputs and its integer arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/base/error.h"

namespace epi::compiler {

using Symbol = int;  // printed as s0, s1, ...

class SymSize {
 public:
  SymSize(int64_t constant = 0) : constant_(constant) {}  // NOLINT: implicit from a number
  static SymSize symbol(Symbol symbol);

  bool is_static() const { return terms_.empty(); }
  // Requires a static size.
  int64_t number() const {
    EPI_CHECK(is_static());
    return constant_;
  }
  // The symbol, if the size is nothing else.
  std::optional<Symbol> as_symbol() const;

  // The size for these values of the symbols.
  int64_t at(std::span<const int64_t> values) const;

  SymSize operator+(const SymSize& other) const;
  SymSize operator*(const SymSize& other) const;
  bool operator==(const SymSize&) const = default;

 private:
  friend std::string to_string(const SymSize& size);
  struct Term {
    std::vector<Symbol> symbols;  // sorted; a symbol occurs once per power
    int64_t factor = 0;           // not 0
    bool operator==(const Term&) const = default;
  };
  void add(const Term& term);

  int64_t constant_ = 0;
  std::vector<Term> terms_;  // sorted by their symbols, each once
};

// "s0*s1*768", "64", "s0 + 1".
std::string to_string(const SymSize& size);

using SymDims = std::vector<SymSize>;
// "[s0*s1, 768]".
std::string to_string(const SymDims& dims);

// Represents symbols by plain numbers during capture. A size is a prime that divides none of the
// fixed sizes, so that every product of sizes in the function factors into its symbols. An integer
// argument has a value near that of the call, because the function may need it to be in some range.
class SymbolHints {
 public:
  explicit SymbolHints(int64_t first_prime = 1009) : first_prime_(first_prime) {}
  // Adds a symbol. Its prime must not divide any of the sizes in `fixed`.
  Symbol add(std::span<const int64_t> fixed);
  // Adds an integer argument, after all sizes.
  Symbol add_integer(int64_t value);
  std::span<const int64_t> hints() const { return hints_; }
  // The number of symbols that are sizes. They come first.
  size_t sizes() const { return sizes_; }

  // Factors a number of the captured function into sizes.
  SymSize read(int64_t number) const;

 private:
  int64_t first_prime_;
  std::vector<int64_t> hints_;
  size_t sizes_ = 0;
};

}  // namespace epi::compiler
