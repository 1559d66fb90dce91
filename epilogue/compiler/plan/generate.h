// SPDX-License-Identifier: Apache-2.0
// From kernels to addresses of code: the IR of all of them as one module, compiled or taken from
// the cache, and loaded.
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
  std::string ir;                  // empty where no kernel has code of its own
  std::vector<std::string> names;  // of the kernels, numbered: the same source has the same name
};
Source write_source(const std::vector<Kernel>& kernels, const Target& target);
// Functions as a module.
Source as_module(const std::string& functions, std::vector<std::string> names,
                 const Target& target);

struct Generated {
  std::shared_ptr<const ObjectCode> code;  // null where the source is empty
  bool from_cache = false;
  std::string not_kept;  // why the cache could not keep it
};
Generated generate(const Source& source, const Target& target, UseCache cache = UseCache::kYes);

}  // namespace epi::compiler
