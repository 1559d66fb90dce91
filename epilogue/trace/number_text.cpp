// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/number_text.h"

#include <charconv>

#include "epilogue/base/parse_integer.h"

namespace epi::trace {
namespace {

std::string_view without_quotes(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    return token.substr(1, token.size() - 2);
  }
  return token;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number: its digits, and the power of ten to multiply them by.
struct Decimal {
  bool negative = false;
  uint64_t digits = 0;
  int power = 0;
};

constexpr size_t kMaxPlain = 19;  // 18 digits and the point, which cannot overflow
constexpr int kMaxPower = 40;

// Reads digits into `number` as long as they fit. Further digits only change the power.
std::string_view take_digits(std::string_view text, Decimal& number, bool fraction) {
  while (!text.empty() && is_digit(text.front())) {
    if (number.digits < 1'000'000'000'000'000'000) {
      number.digits = number.digits * 10 + static_cast<uint64_t>(text.front() - '0');
      if (fraction) --number.power;
    } else if (!fraction) {
      ++number.power;
    }
    text.remove_prefix(1);
  }
  return text;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal number;
  if (!text.empty() && text.front() == '-') {
    number.negative = true;
    text.remove_prefix(1);
  }
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  text = take_digits(text, number, false);
  if (!text.empty() && text.front() == '.') text = take_digits(text.substr(1), number, true);
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(text.size() > 1 && text[1] == '+' ? 2 : 1);
    int exponent = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (parsed.ec != std::errc() || exponent > kMaxPower || exponent < -kMaxPower) {
      return std::nullopt;
    }
    number.power += exponent;
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  }
  if (!text.empty()) return std::nullopt;
  return number;
}

// Fast path for the form that Kineto writes, `digits.ddd`.
std::optional<int64_t> parse_plain_us(std::string_view text) {
  if (text.size() < 5 || text.size() > kMaxPlain || text[text.size() - 4] != '.') {
    return std::nullopt;
  }
  int64_t ns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == text.size() - 4) continue;
    if (!is_digit(text[i])) return std::nullopt;
    ns = ns * 10 + (text[i] - '0');
  }
  return ns;
}

}  // namespace

std::optional<int64_t> parse_integer_token(std::string_view token) {
  return epi::parse_integer(without_quotes(token));
}

std::optional<int64_t> parse_us_as_ns(std::string_view token) {
  const std::string_view text = without_quotes(token);
  if (const auto plain = parse_plain_us(text)) return plain;
  auto number = parse_decimal(text);
  if (!number) return std::nullopt;
  number->power += 3;
  for (; number->power < 0; ++number->power) number->digits /= 10;
  for (; number->power > 0 && number->digits != 0; --number->power) {
    if (number->digits > static_cast<uint64_t>(INT64_MAX) / 10) return std::nullopt;
    number->digits *= 10;
  }
  if (number->digits > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  const auto ns = static_cast<int64_t>(number->digits);
  return number->negative ? -ns : ns;
}

}  // namespace epi::trace
