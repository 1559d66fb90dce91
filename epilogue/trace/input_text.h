// SPDX-License-Identifier: Apache-2.0
// The text of a file. The compression format is detected from the first bytes, not from the name. A
// plain file is mapped. A compressed file is decompressed into memory as far as it is intact.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"
#include "epilogue/trace/defects.h"
#include "epilogue/trace/read_progress.h"

namespace epi::trace {

struct InputText {
  std::string_view text;
  std::shared_ptr<const char> owner;  // keeps `text` alive and in place
  int fd = -1;  // of a plain file, valid as long as `owner` lives; pread leaves no mapped pages
  std::shared_ptr<const MappedFile> file;  // that the text was read from; null for bytes
};

// Half of the available memory: the columns and an analysis need about as much as the text.
int64_t default_max_unpacked_bytes();

// Corrupt or truncated compressed data is counted in `defects`, and the text ends there. A file
// that decompresses to more than `max_unpacked_bytes` is a failure.
Result<InputText> open_input(const std::filesystem::path& path, Defects& defects,
                             int64_t max_unpacked_bytes = default_max_unpacked_bytes(),
                             const ReadProgress* progress = nullptr);

// The same for the bytes of a file. Failures refer to them as `name`.
Result<InputText> input_of_bytes(std::string bytes, const std::string& name, Defects& defects,
                                 int64_t max_unpacked_bytes, const ReadProgress* progress);

}  // namespace epi::trace
