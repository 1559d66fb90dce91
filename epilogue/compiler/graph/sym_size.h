// SPDX-License-Identifier: Apache-2.0
// Sizes that a graph leaves open: a whole number times symbols, such as s0*s1*768. GEMMs are all
// that the shapes of a feed-forward block need; sums (`cat` along a free dimension) are not
// captured.
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
  SymSize(int64_t factor = 0) : factor_(factor) {}  // NOLINT: a plain number is a size
  static SymSize symbol(Symbol symbol);

  bool is_static() const { return symbols_.empty(); }
  int64_t factor() const { return factor_; }
  // Of a static size.
  int64_t number() const {
    EPI_CHECK(is_static());
    return factor_;
  }
  // Sorted; a symbol stands as often as it is multiplied.
  const std::vector<Symbol>& symbols() const { return symbols_; }

  // The number, when each symbol has this value.
  int64_t at(std::span<const int64_t> values) const;

  SymSize operator*(const SymSize& other) const;
  bool operator==(const SymSize&) const = default;

 private:
  int64_t factor_ = 0;
  std::vector<Symbol> symbols_;  // empty where the factor is 0
};

// "s0*s1*768", "64".
std::string to_string(const SymSize& size);

using SymDims = std::vector<SymSize>;
// "[s0*s1, 768]".
std::string to_string(const SymDims& dims);

// Stands for symbols while a function is captured with plain numbers: each symbol is a prime that
// divides none of the sizes that are fixed, so that every number that comes out of the function
// tells which symbols it is made of.
class SymbolHints {
 public:
  explicit SymbolHints(int64_t first_prime = 1009) : first_prime_(first_prime) {}
  // A new symbol; `fixed` are the sizes that its prime must not divide.
  Symbol add(std::span<const int64_t> fixed);
  int64_t hint(Symbol symbol) const { return primes_[static_cast<size_t>(symbol)]; }
  std::span<const int64_t> hints() const { return primes_; }

  // What a number of the captured function stands for.
  SymSize read(int64_t number) const;

 private:
  int64_t first_prime_;
  std::vector<int64_t> primes_;
};

}  // namespace epi::compiler
