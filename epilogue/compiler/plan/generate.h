// SPDX-License-Identifier: Apache-2.0
// Generates code for kernels: writes the IR of all of them as one module, compiles it or loads it
// from the cache, and resolves the functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/object_code.h"
#include "epilogue/compiler/codegen/target.h"
#include "epilogue/compiler/plan/code_cache.h"
#include "epilogue/compiler/plan/kernel_list.h"

namespace epi::compiler {

struct Source {
  std::string ir;                    // empty if all kernels are library kernels
  std::vector<std::string> names;    // of the kernels, numbered; equal sources share a name
  std::vector<std::string> texts{};  // of the kernels; empty for library kernels
};
Source write_source(const std::vector<Kernel>& kernels, const Target& target);
// Wraps functions into a module.
Source as_module(const std::string& functions, std::vector<std::string> names,
                 const Target& target);

struct Generated {
  std::shared_ptr<const ObjectCode> code;  // null if the source is empty
  bool from_cache = false;
  std::string cache_error;  // why the cache was not used
};
Generated generate(const Source& source, const Target& target, UseCache cache = UseCache::kYes);

}  // namespace epi::compiler
