// SPDX-License-Identifier: Apache-2.0
// Loads a relocatable ELF object of generated code into memory and links it. Kernels call nothing
// outside themselves, so a handful of relocation types is enough, and code from the cache runs
// without LLVM.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace epi::compiler {

// Pages that are written first and executed afterwards.
class CodeMemory {
 public:
  explicit CodeMemory(size_t size_bytes);  // throws `Error` if there is no memory
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory();

  std::byte* data() const { return data_; }
  // Makes the pages executable and read-only.
  void make_executable();

 private:
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

class ObjectCode {
 public:
  // Throws `BugError` for an object that this compiler cannot have produced. Thread-safe.
  explicit ObjectCode(std::span<const std::byte> object);

  // The address of a function, valid for the lifetime of this object.
  void* find(std::string_view function) const;

 private:
  std::unique_ptr<CodeMemory> memory_;
  std::map<std::string, void*, std::less<>> functions_;
};

}  // namespace epi::compiler
