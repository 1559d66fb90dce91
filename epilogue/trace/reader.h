// SPDX-License-Identifier: Apache-2.0
// Reads Kineto's Chrome JSON into a trace. The text is split into windows at event boundaries, and
// windows are parsed on all cores: with simdjson if it accepts them, otherwise with the tolerant
// parser. Memory use is the columns plus one window per core, because the file's pages are dropped
// as soon as they are parsed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "epilogue/base/result.h"
#include "epilogue/trace/read_progress.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

// Reads plain, gzip and zstd files. Defects of the file are counted in the trace. A file that is
// not a trace is a failure with the reason. So is a compressed file whose text is longer than
// `max_unpacked_bytes`, half of the available memory if not set. So is a read that `progress`
// cancels.
Result<Trace> read(const std::filesystem::path& path,
                   std::optional<int64_t> max_unpacked_bytes = std::nullopt,
                   ReadProgress* progress = nullptr);

// The same for the bytes of a file, plain or compressed. Failures refer to them as `name`.
Result<Trace> read_bytes(std::string bytes, const std::string& name,
                         std::optional<int64_t> max_unpacked_bytes = std::nullopt,
                         ReadProgress* progress = nullptr);

}  // namespace epi::trace
