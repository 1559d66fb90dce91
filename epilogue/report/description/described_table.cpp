// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/description/described_table.h"

#include <fmt/format.h>

namespace epi::report {

std::string number_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kNone:
    case Unit::kCount:
    case Unit::kNumber:
      return count_text(value);
    case Unit::kNanoseconds:
      return time_text(value);
    case Unit::kMicroseconds:
      return time_text(1000 * value);
    case Unit::kBytes:
      return bytes_text(value);
    case Unit::kFlops:
      return flops_text(value);
    case Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::kBytesPerNs:
      return bandwidth_text(value);
    case Unit::kTeraflopsPerSecond:
      return four_digits(value);
  }
  return "";
}

}  // namespace epi::report
