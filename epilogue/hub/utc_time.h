// SPDX-License-Identifier: Apache-2.0
// Times in manifests and indexes. There is exactly one form, "2026-11-17T09:00:00Z", so times
// compare like their texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epi::hub {

// Why `text` is not a time; empty if it is one.
std::string time_error(std::string_view text);
// `seconds` since 1970, limited to the years 1970 to 9999.
std::string utc_time(int64_t seconds);
std::string utc_now();
// The time of a build: SOURCE_DATE_EPOCH, so that builds can be reproduced, else now.
std::string build_time();

}  // namespace epi::hub
