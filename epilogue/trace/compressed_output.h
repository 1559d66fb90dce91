// SPDX-License-Identifier: Apache-2.0
// A text file, compressed according to its extension: `.gz`, `.zst`, or plain. Streams its content
// and is written atomically.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi::trace {

class CompressedOutput {
 public:
  static Result<std::unique_ptr<CompressedOutput>> create(const std::filesystem::path& path);

  CompressedOutput() = default;
  CompressedOutput(const CompressedOutput&) = delete;
  CompressedOutput& operator=(const CompressedOutput&) = delete;
  virtual ~CompressedOutput() = default;

  virtual Result<void> write(std::string_view text) = 0;
  // Call once, last: renames the file to its final name. Without this call no file is left behind.
  virtual Result<void> commit() = 0;
};

}  // namespace epi::trace
