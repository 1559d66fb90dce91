// SPDX-License-Identifier: Apache-2.0
// What a kernel's name says, in words, as text and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"

namespace epi::report {

// In one line: "cuBLAS GEMM bf16 tn, tile 256x128x64, bias"; the name itself where nothing is known
// of it.
std::string kernel_sentence(std::string_view name, const analysis::DecodedName& kernel);

// "256x128x64", with a ? for what is not stated; empty where nothing is.
std::string tile_text(const analysis::DecodedName& kernel);

// The name, and a line below it for each thing that it says.
std::string kernel_text(std::string_view name, const analysis::DecodedName& kernel);

// The kernels of a trace by time, called what they are; by names that were asked for, uncut.
std::string kernels_table(const std::vector<analysis::NamedTime>& kernels, bool markdown,
                          size_t width, NameStyle names = NameStyle::kDecoded);

// An object with every field of the kernel; `time` adds what it took in a trace.
void kernel_json(JsonWriter& json, std::string_view name, const analysis::DecodedName& kernel,
                 const analysis::NamedTime* time = nullptr);

}  // namespace epi::report
