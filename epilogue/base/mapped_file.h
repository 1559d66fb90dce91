// SPDX-License-Identifier: Apache-2.0
// A whole file mapped into memory. Pages are private and writable: a write stays in this process
// and never reaches the file, so a tensor over a mapping behaves like any other tensor.
//
// If another process truncates the file, the system raises SIGBUS when a lost page is read. The
// first mapping installs a handler that replaces lost pages by zeros, so that the process survives
// and can report the change: check `has_changed` before the result is used. A SIGBUS elsewhere is
// passed on to the handler that was there before.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

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
  // For pread, which leaves no mapped pages. Valid as long as this object.
  int fd() const { return fd_; }
  // True if the file was written to since it was opened: the bytes may be a mixture of old and new.
  bool has_changed() const;

 private:
  MappedFile() = default;

  int fd_ = -1;
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
  int slot_ = -1;  // in the table of mappings; an empty file has none
};

// The path of a file that is mapped now and has changed since it was opened. Empty if there is
// none.
std::string changed_mapped_file();
// True if the address is in a mapped file that has changed since it was opened.
bool is_in_changed_file(const void* address);

}  // namespace epi
