// SPDX-License-Identifier: Apache-2.0
// How reports show kernel names: raw as in the trace, decoded, or both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epi::report {

enum class NameStyle : uint8_t { kRaw, kDecoded, kBoth };

// The lines that show a kernel: its raw name, its decoded name, or both, in one line if they are
// the same.
std::vector<std::string> name_lines(std::string_view name, NameStyle style);

}  // namespace epi::report
