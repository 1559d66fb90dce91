// SPDX-License-Identifier: Apache-2.0
// A whole file mapped into memory. Pages are private and writable: a write stays in this process
// and never reaches the file, so a tensor over a mapping behaves like any other tensor.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "epilogue/base/result.h"

namespace epi {

class MappedFile {
 public:
  // Maps `path`. An empty file gives an empty span. The mapping stays valid if the file is deleted
  // or renamed.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<std::byte> bytes() const { return {data_, size_bytes_}; }

 private:
  MappedFile(std::byte* data, size_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace epi
