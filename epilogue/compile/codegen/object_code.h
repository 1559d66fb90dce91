// SPDX-License-Identifier: Apache-2.0
// Loads a relocatable ELF object of generated code into memory and links it within itself. Kernels
// call nothing outside of themselves, so that a handful of relocations is all there is, and code
// from the cache runs without LLVM.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace epi::compiler {

class ObjectCode {
 public:
  // Throws `BugError` for an object that we cannot have made. Any thread.
  explicit ObjectCode(std::span<const std::byte> object);
  ObjectCode(const ObjectCode&) = delete;
  ObjectCode& operator=(const ObjectCode&) = delete;
  ~ObjectCode();

  // The address of a function; it lives as long as this does.
  void* find(std::string_view function) const;

 private:
  std::byte* memory_ = nullptr;
  size_t size_bytes_ = 0;
  std::map<std::string, void*, std::less<>> functions_;
};

}  // namespace epi::compiler
