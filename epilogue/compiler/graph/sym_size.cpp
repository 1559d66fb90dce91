// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/sym_size.h"
#include "epilogue/base/join.h"

#include <fmt/format.h>

#include <algorithm>

namespace epi::compiler {
namespace {

bool is_prime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return number > 1;
}

}  // namespace

SymSize SymSize::symbol(Symbol symbol) {
  SymSize size(1);
  size.symbols_.push_back(symbol);
  return size;
}

int64_t SymSize::at(std::span<const int64_t> values) const {
  int64_t number = factor_;
  for (const Symbol symbol : symbols_) number *= values[static_cast<size_t>(symbol)];
  return number;
}

SymSize SymSize::operator*(const SymSize& other) const {
  SymSize product(factor_ * other.factor_);
  if (product.factor_ == 0) return product;
  std::merge(symbols_.begin(), symbols_.end(), other.symbols_.begin(), other.symbols_.end(),
             std::back_inserter(product.symbols_));
  return product;
}

std::string to_string(const SymSize& size) {
  if (size.is_static()) return fmt::format("{}", size.factor());
  std::string out;
  for (const Symbol symbol : size.symbols()) {
    out += fmt::format("{}s{}", out.empty() ? "" : "*", symbol);
  }
  return size.factor() == 1 ? out : fmt::format("{}*{}", out, size.factor());
}

std::string to_string(const SymDims& dims) {
  std::vector<std::string> texts;
  texts.reserve(dims.size());
  for (const SymSize& size : dims) texts.push_back(to_string(size));
  return fmt::format("[{}]", join(texts, ", "));
}

Symbol SymbolHints::add(std::span<const int64_t> fixed) {
  const auto divides_one = [&](int64_t prime) {
    return std::any_of(fixed.begin(), fixed.end(),
                       [&](int64_t size) { return size != 0 && size % prime == 0; });
  };
  int64_t prime = primes_.empty() ? first_prime_ : primes_.back() + 2;
  while (!is_prime(prime) || divides_one(prime)) prime += 2;
  primes_.push_back(prime);
  return static_cast<Symbol>(primes_.size()) - 1;
}

SymSize SymbolHints::read(int64_t number) const {
  SymSize size(1);
  if (number == 0) return {0};
  for (size_t i = 0; i < primes_.size(); ++i) {
    while (number % primes_[i] == 0) {
      size = size * SymSize::symbol(static_cast<Symbol>(i));
      number /= primes_[i];
    }
  }
  return size * SymSize(number);
}

}  // namespace epi::compiler
