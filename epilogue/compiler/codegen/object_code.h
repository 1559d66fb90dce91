// SPDX-License-Identifier: Apache-2.0
// Loads a relocatable ELF object of generated code into memory and links it within itself. Kernels
// call nothing outside of themselves, so that a handful of relocations is all there is, and code
// from the cache runs without LLVM.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace epi::compiler {

// Pages that are written first and run afterwards.
class CodeMemory {
 public:
  explicit CodeMemory(size_t size_bytes);  // throws `Error` where there are none
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory();

  std::byte* data() const { return data_; }
  // From now on it can be run, and not be written.
  void make_executable();

 private:
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

class ObjectCode {
 public:
  // Throws `BugError` for an object that we cannot have made. Any thread.
  explicit ObjectCode(std::span<const std::byte> object);

  // The address of a function; it lives as long as this does.
  void* find(std::string_view function) const;

 private:
  std::unique_ptr<CodeMemory> memory_;
  std::map<std::string, void*, std::less<>> functions_;
};

}  // namespace epi::compiler
