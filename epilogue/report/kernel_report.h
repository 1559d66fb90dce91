// SPDX-License-Identifier: Apache-2.0
// Decoded kernel names as text and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"

namespace epi::report {

// The decoded name in one line: "cuBLAS GEMM bf16 tn, tile 256x128x64, bias". An unknown name is
// returned unchanged.
std::string kernel_sentence(std::string_view name, const analysis::DecodedName& kernel);

// "256x128x64", with "?" for an unknown K. Empty if the tile is unknown.
std::string tile_text(const analysis::DecodedName& kernel);

// The raw name, and a line for each decoded property.
std::string kernel_text(std::string_view name, const analysis::DecodedName& kernel);

// The kernels of a trace, largest time first. Raw names are not cut.
std::string kernels_table(const std::vector<analysis::NamedTime>& kernels, bool markdown,
                          size_t width, NameStyle names = NameStyle::kDecoded);

// Writes an object with every decoded field. `time` adds count, time and share in a trace.
void kernel_json(JsonWriter& json, std::string_view name, const analysis::DecodedName& kernel,
                 const analysis::NamedTime* time = nullptr);

}  // namespace epi::report
