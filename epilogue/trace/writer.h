// SPDX-License-Identifier: Apache-2.0
// A trace as the Chrome JSON that Kineto writes: PyTorch's tools, HTA and Perfetto read it.
#pragma once

#include <filesystem>

#include "epilogue/base/result.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

// Writes plain text, or `.gz` or `.zst` by the path's ending. Streams: the memory it needs does not
// grow with the trace. The file appears under its name when it is whole, or not at all.
Result<void> write(const Trace& trace, const std::filesystem::path& path);

}  // namespace epi::trace
