// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/generate.h"
#include "epilogue/compiler/codegen/gemm_emitter.h"

#include <fmt/format.h>

#include <map>

#include "epilogue/base/error.h"
#include "epilogue/base/hash.h"
#include "epilogue/compiler/codegen/llvm.h"
#include "epilogue/compiler/plan/code_cache.h"

namespace epi::compiler {
namespace {

constexpr std::string_view kPlaceholder = "KERNEL";

std::string source_of(const Kernel& kernel, const Target& target) {
  const std::string name(kPlaceholder);
  if (const auto* pointwise = std::get_if<PointwiseKernel>(&kernel.body)) {
    return emit_pointwise(name, pointwise->code, target);
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&kernel.body)) {
    return emit_gemm(name, gemm->code, target);
  }
  return "";
}

std::string with_name(std::string text, const std::string& name) {
  for (size_t at = 0; (at = text.find(kPlaceholder, at)) != std::string::npos;) {
    text.replace(at, kPlaceholder.size(), name);
    at += name.size();
  }
  return text;
}

}  // namespace

Source write_source(const std::vector<Kernel>& kernels, const Target& target) {
  Source source;
  std::map<std::string, std::string> names;  // by source
  std::string functions;
  for (const Kernel& kernel : kernels) {
    const std::string text = source_of(kernel, target);
    if (text.empty()) {
      source.names.push_back(kernel.name);
      source.texts.emplace_back();
      continue;
    }
    auto& name = names[text];
    if (name.empty()) {
      name = fmt::format("{}_{}", kernel.name, names.size() - 1);
      functions += with_name(text, name);
    }
    source.names.push_back(name);
    source.texts.push_back(with_name(text, name));
  }
  if (functions.empty()) return source;
  source.ir = as_module(functions, {}, target).ir;
  return source;
}

Source as_module(const std::string& functions, std::vector<std::string> names,
                 const Target& target) {
  return {fmt::format("target datalayout = \"{}\"\ntarget triple = \"{}\"\n\n{}"
                      "attributes #0 = {{ nounwind \"no-builtins\" }}\n",
                      target.data_layout, target.triple, functions),
          std::move(names)};
}

Generated generate(const Source& source, const Target& target, UseCache cache) {
  Generated result;
  if (source.ir.empty()) return result;
  const std::string key = sha256(fmt::format("LLVM {}\n{}\n{}\n{}", llvm_version(), target.triple,
                                             target.features, source.ir));
  const auto cached =
      cache == UseCache::kYes ? find_cached(key) : Result<std::optional<std::vector<std::byte>>>();
  if (!cached) result.cache_error = cached.error().message;
  if (cached && *cached) {
    try {
      result.code = std::make_shared<const ObjectCode>(**cached);
      result.from_cache = true;
      return result;
    } catch (const BugError&) {  // NOLINT(bugprone-empty-catch): invalid entry, compile again
    }
  }
  const auto object = assemble(source.ir, target);
  result.code = std::make_shared<const ObjectCode>(object);
  if (cache == UseCache::kNo) return result;
  if (const auto stored = store_cached(key, object); !stored) {
    result.cache_error = stored.error().message;
  }
  return result;
}

}  // namespace epi::compiler
