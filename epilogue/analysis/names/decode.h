// SPDX-License-Identifier: Apache-2.0
// Decodes kernel names. Each library has a grammar in its own file (families.h lists them). No
// whole names are looked up, so names of other GPUs and versions decode as well.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

// Decodes a name as it appears in a trace. Never fails: fields that are not understood stay
// unknown.
DecodedName decode_name(std::string_view name);

// The function without its return type, template arguments and parameters: "vllm::rms_norm_kernel".
std::string function_name(std::string_view name);

}  // namespace epi::analysis
