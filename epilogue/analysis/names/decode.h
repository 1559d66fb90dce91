// SPDX-License-Identifier: Apache-2.0
// Decodes a kernel name. Each library has a grammar for its names, with a file of its own here
// (families.h lists them); nothing is looked up by whole name, so that names of other GPUs and
// versions decode as well.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

// Reads a name as traces have it. Never fails: what is not understood stays unknown.
DecodedName decode_name(std::string_view name);

// The function without its return type, template arguments and parameters: "vllm::rms_norm_kernel".
std::string function_name(std::string_view name);

}  // namespace epi::analysis
