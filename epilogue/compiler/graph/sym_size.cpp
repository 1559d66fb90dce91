// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/sym_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "epilogue/base/join.h"

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
  SymSize size;
  size.terms_.push_back({{symbol}, 1});
  return size;
}

std::optional<Symbol> SymSize::as_symbol() const {
  const bool is_one = constant_ == 0 && terms_.size() == 1 && terms_[0].factor == 1 &&
                      terms_[0].symbols.size() == 1;
  return is_one ? std::optional(terms_[0].symbols[0]) : std::nullopt;
}

int64_t SymSize::at(std::span<const int64_t> values) const {
  int64_t sum = constant_;
  for (const Term& term : terms_) {
    int64_t product = term.factor;
    for (const Symbol symbol : term.symbols) product *= values[static_cast<size_t>(symbol)];
    sum += product;
  }
  return sum;
}

void SymSize::add(const Term& term) {
  if (term.symbols.empty()) {
    constant_ += term.factor;
    return;
  }
  const auto found =
      std::lower_bound(terms_.begin(), terms_.end(), term,
                       [](const Term& a, const Term& b) { return a.symbols < b.symbols; });
  if (found == terms_.end() || found->symbols != term.symbols) {
    terms_.insert(found, term);
    return;
  }
  found->factor += term.factor;
  if (found->factor == 0) terms_.erase(found);
}

SymSize SymSize::operator+(const SymSize& other) const {
  SymSize sum = *this;
  sum.constant_ += other.constant_;
  for (const Term& term : other.terms_) sum.add(term);
  return sum;
}

SymSize SymSize::operator*(const SymSize& other) const {
  SymSize product(constant_ * other.constant_);
  const auto add_scaled = [&](const std::vector<Term>& terms, int64_t factor) {
    if (factor == 0) return;
    for (const Term& term : terms) product.add({term.symbols, term.factor * factor});
  };
  add_scaled(terms_, other.constant_);
  add_scaled(other.terms_, constant_);
  for (const Term& a : terms_) {
    for (const Term& b : other.terms_) {
      Term both{{}, a.factor * b.factor};
      std::merge(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(),
                 std::back_inserter(both.symbols));
      product.add(both);
    }
  }
  return product;
}

std::string to_string(const SymSize& size) {
  std::string out;
  const auto append = [&](int64_t factor, const std::string& symbols) {
    if (!out.empty()) out += factor < 0 ? " - " : " + ";
    const int64_t shown = out.empty() ? factor : std::abs(factor);
    if (symbols.empty()) {
      out += fmt::format("{}", shown);
    } else {
      out += shown == 1 ? symbols : fmt::format("{}*{}", symbols, shown);
    }
  };
  for (const SymSize::Term& term : size.terms_) {
    std::vector<std::string> names;
    for (const Symbol symbol : term.symbols) names.push_back(fmt::format("s{}", symbol));
    append(term.factor, join(names, "*"));
  }
  if (size.constant_ != 0 || size.is_static()) append(size.constant_, "");
  return out;
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
  int64_t prime = hints_.empty() ? first_prime_ : hints_.back() + 2;
  while (!is_prime(prime) || divides_one(prime)) prime += 2;
  hints_.push_back(prime);
  ++sizes_;
  return static_cast<Symbol>(hints_.size()) - 1;
}

Symbol SymbolHints::add_integer(int64_t value) {
  hints_.push_back(value);
  return static_cast<Symbol>(hints_.size()) - 1;
}

SymSize SymbolHints::read(int64_t number) const {
  SymSize size(1);
  if (number == 0) return {0};
  for (size_t i = 0; i < sizes_; ++i) {
    while (number % hints_[i] == 0) {
      size = size * SymSize::symbol(static_cast<Symbol>(i));
      number /= hints_[i];
    }
  }
  return size * SymSize(number);
}

}  // namespace epi::compiler
