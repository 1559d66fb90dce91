// SPDX-License-Identifier: Apache-2.0
// How a report writes the names of kernels: as the trace has them, as what they say, or both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epi::report {

enum class NameStyle : uint8_t { kRaw, kDecoded, kBoth };

// The lines that stand for a kernel: the whole name, what it says, or first one, then the other
// (one line where they are the same).
std::vector<std::string> name_lines(std::string_view name, NameStyle style);

}  // namespace epi::report
