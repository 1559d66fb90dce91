// SPDX-License-Identifier: Apache-2.0
// Include this instead of simdjson.h. simdjson chooses its instruction set on the first use, in
// noexcept functions that allocate, and ends the process if memory has run out. Here it chooses
// before main.
#pragma once

#include <simdjson.h>

namespace epi {

inline const bool kSimdjsonHasStarted = !simdjson::get_active_implementation()->name().empty() &&
                                        simdjson::builtin_implementation() != nullptr;

}  // namespace epi
