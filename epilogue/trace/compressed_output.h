// SPDX-License-Identifier: Apache-2.0
// A text file that may be compressed, as its name says: `.gz`, `.zst`, or neither. Streams, and
// appears whole or not at all.
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
  // Call once, last: the file then has its name. Without it nothing is left behind.
  virtual Result<void> commit() = 0;
};

}  // namespace epi::trace
