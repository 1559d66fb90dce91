// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as a manifest, a signature, a keyring, a lock, a package index, a list of
// revoked keys, the record of what was seen, and as code. Each parser reports an error, or the
// accepted value satisfies its invariants. An unsigned manifest is never parsed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "epilogue/hub/code_target.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/manifest_parser.h"
#include "epilogue/hub/package_index.h"
#include "epilogue/hub/revocation.h"
#include "epilogue/hub/trust.h"
#include "epilogue/hub/variant.h"

namespace {

using namespace epi;

void require(bool condition) {
  if (!condition) std::abort();
}

bool stays_inside(std::string_view path) {
  const std::string parts = "/" + std::string(path) + "/";
  return !path.starts_with('/') && parts.find("/../") == std::string::npos;
}

void check_manifest_text(std::string_view text) {
  const auto manifest = hub::parse_manifest(text, "m");
  if (!manifest) {
    require(manifest.error().message.starts_with("m: "));
    return;
  }
  require(hub::name_error(manifest->name).empty());
  require(hub::parse_variant(manifest->variant).has_value());
  require(manifest->files.contains(manifest->code));
  for (const auto& [path, file] : manifest->files) {
    require(hub::path_error(path).empty() && stays_inside(path) && file.bytes >= 0);
  }
  for (const hub::Export& one : manifest->exports) {
    require(!one.operands.empty() && !one.dtypes.empty());
    for (const hub::Launch& launch : one.launches) {
      require(launch.wave_cost > 0 && launch.tile[0] > 0 && launch.tile[1] > 0);
      for (const hub::Argument& argument : launch.arguments) {
        require(argument.operand < one.operands.size());
      }
    }
  }
  hub::code_error(*manifest, text);
}

// Uses the first line as a signature and the rest as the signed manifest.
void check_signature(std::string_view text) {
  const size_t end = text.find('\n');
  const std::string signature(text.substr(0, end == text.npos ? end : end + 1));
  const std::string_view rest = end == text.npos ? "" : text.substr(end + 1);
  const auto checked = hub::check_manifest({"epilogue/glu", 1, "v"}, rest, signature, {});
  require(!checked.violations.empty() && !checked.manifest);  // the keyring is empty
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_manifest_text(text);
  check_signature(text);
  const auto keyring = hub::Keyring::parse(text, "k");
  require(!keyring || keyring->find("") == nullptr);
  if (const auto lock = hub::parse_lock(text, "l"); lock) {
    for (const auto& package : lock->packages) require(hub::name_error(package.name).empty());
  }
  if (const auto index = hub::parse_index(text, "i"); index) {
    require(hub::parse_index(hub::index_text(*index), "i") == *index);
  }
  if (const auto seen = hub::parse_seen(text, "s"); seen) {
    require(hub::parse_seen(hub::seen_text(*seen), "s") == *seen);
  }
  if (const auto revoked = hub::parse_revocations(text, "r"); revoked) {
    for (const auto& key : *revoked) require(key.size() == 64);
  }
  hub::code_target(text);
  if (hub::path_error(text).empty()) require(stays_inside(text));
  return 0;
}
