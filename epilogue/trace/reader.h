// SPDX-License-Identifier: Apache-2.0
// Kineto's Chrome JSON as a trace. The text is cut into windows at events; windows are parsed on
// all cores, by simdjson where it takes them and by the tolerant parser where it does not. Memory
// is the columns and a window a core: the file's own pages are dropped as soon as they are read.
#pragma once

#include <filesystem>

#include "epilogue/base/result.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

// Reads plain, gzip and zstd files. Defects of the file are counted in the trace; a file that is no
// trace is a failure that says why.
Result<Trace> read(const std::filesystem::path& path);

// The same of a text in memory; `name` is what failures call it.
Result<Trace> read_text(std::string_view text, const std::string& name);

}  // namespace epi::trace
