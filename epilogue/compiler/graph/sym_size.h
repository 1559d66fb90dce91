// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: an integer times symbols, such as s0*s1*768. Products are enough for the shapes
// of a feed-forward block. Sums (`cat` along a dynamic dimension) are not supported.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "epilogue/base/error.h"

namespace epi::compiler {

using Symbol = int;  // printed as s0, s1, ...

class SymSize {
 public:
  SymSize(int64_t factor = 0) : factor_(factor) {}  // NOLINT: implicit from a number
  static SymSize symbol(Symbol symbol);

  bool is_static() const { return symbols_.empty(); }
  int64_t factor() const { return factor_; }
  // Requires a static size.
  int64_t number() const {
    EPI_CHECK(is_static());
    return factor_;
  }
  // Sorted. A symbol occurs once per power.
  const std::vector<Symbol>& symbols() const { return symbols_; }

  // The size for these values of the symbols.
  int64_t at(std::span<const int64_t> values) const;

  SymSize operator*(const SymSize& other) const;
  bool operator==(const SymSize&) const = default;

 private:
  int64_t factor_ = 0;
  std::vector<Symbol> symbols_;  // empty if the factor is 0
};

// "s0*s1*768", "64".
std::string to_string(const SymSize& size);

using SymDims = std::vector<SymSize>;
// "[s0*s1, 768]".
std::string to_string(const SymDims& dims);

// Represents symbols by plain numbers during capture: each symbol is a prime that divides none of
// the fixed sizes, so that every size in the function factors into its symbols.
class SymbolHints {
 public:
  explicit SymbolHints(int64_t first_prime = 1009) : first_prime_(first_prime) {}
  // Adds a symbol. Its prime must not divide any of the sizes in `fixed`.
  Symbol add(std::span<const int64_t> fixed);
  int64_t hint(Symbol symbol) const { return primes_[static_cast<size_t>(symbol)]; }
  std::span<const int64_t> hints() const { return primes_; }

  // Factors a number of the captured function into symbols.
  SymSize read(int64_t number) const;

 private:
  int64_t first_prime_;
  std::vector<int64_t> primes_;
};

}  // namespace epi::compiler
