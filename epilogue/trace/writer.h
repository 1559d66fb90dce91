// SPDX-License-Identifier: Apache-2.0
// Writes a trace as the Chrome JSON that Kineto writes, which PyTorch's tools, HTA and Perfetto
// read.
#pragma once

#include <filesystem>

#include "epilogue/base/result.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

// Writes plain text, `.gz` or `.zst`, depending on the extension of `path`. Streams its output:
// memory use does not grow with the trace. The file is written atomically, and not at
// all if the file of the trace has changed since it was read.
Result<void> write(const Trace& trace, const std::filesystem::path& path);

}  // namespace epi::trace
