// SPDX-License-Identifier: Apache-2.0
// What machine a file of code is for, by its own words: an ELF library, a cubin (also an ELF file),
// or PTX. A variant's name says it too; code that says something else is never run.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/hub/manifest.h"

namespace epi::hub {

// "x86_64 library", "sm_90 cubin", "sm_80 PTX"; empty where it is none of these.
std::string code_target(std::string_view bytes);

// Why `bytes` cannot be the code of this manifest: "glu.cubin is for sm_80 ..."; empty where it
// can.
std::string code_objection(const Manifest& manifest, std::string_view bytes);

}  // namespace epi::hub
