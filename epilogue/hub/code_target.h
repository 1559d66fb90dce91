// SPDX-License-Identifier: Apache-2.0
// The machine a code file is for, according to the file: an ELF library, a cubin (also an ELF
// file), or PTX. Code that does not match its variant's name is never run.
#pragma once

#include <string>
#include <string_view>

#include "epilogue/hub/manifest.h"

namespace epi::hub {

// "x86_64 library", "sm_90 cubin", "sm_80 PTX"; empty if it is none of these.
std::string code_target(std::string_view bytes);

// Why `bytes` cannot be the code of this manifest: "glu.cubin: sm_80 cubin, ..."; empty if they
// can.
std::string code_error(const Manifest& manifest, std::string_view bytes);

}  // namespace epi::hub
