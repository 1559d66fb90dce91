// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/text/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace epi::report {

std::string four_digits(double value) {
  const int decimals = value < 10 ? 3 : value < 100 ? 2 : 1;
  return fmt::format("{:.{}f}", value, decimals);
}

namespace {

template <size_t N>
std::string scaled(double value, const std::array<const char*, N>& units, int first_decimals) {
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < N) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.{}f} {}", value, first_decimals, units[0]);
  return fmt::format("{} {}", four_digits(value), units[unit]);
}

}  // namespace

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return scaled(bytes, kUnits, 0);
}

std::string flops_text(double flops) {
  static constexpr std::array<const char*, 6> kUnits = {"FLOP",  "kFLOP", "MFLOP",
                                                        "GFLOP", "TFLOP", "PFLOP"};
  return scaled(flops, kUnits, 0);
}

std::string time_text(double nanoseconds) {
  static constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  return scaled(nanoseconds, kUnits, 0);
}

std::string bandwidth_text(double bytes_per_ns) { return bytes_text(bytes_per_ns * 1e9) + "/s"; }

std::string plural(double count, const char* stem, const char* ending,
                   const char* singular_ending) {
  const std::string number =
      count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
  return fmt::format("{} {}{}", number, stem, count == 1 ? singular_ending : ending);
}

std::string difference_text(double nanoseconds) {
  return fmt::format("{}{}", nanoseconds < 0 ? "-" : "+", time_text(std::abs(nanoseconds)));
}

std::string count_text(double count) {
  return count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
}

}  // namespace epi::report
