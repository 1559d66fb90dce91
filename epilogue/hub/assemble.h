// SPDX-License-Identifier: Apache-2.0
// Making packages: a recipe and compiled files become a variant's folder with its manifest; then
// the manifest is signed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/keys.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// What a recipe leaves open. The recipe is a manifest without "variant", "source" and hashes:
// {"name", "version", "license", "least_driver", "code", "files": [...], "exports", "layers"}.
struct AssembleOptions {
  std::filesystem::path recipe;
  std::string variant;
  std::filesystem::path files;  // the folder of the compiled files; empty: the recipe's
  std::filesystem::path out;    // the top of a folder of packages
  std::optional<std::string> commit{};
  bool dirty = false;
};

// Writes the folder of the variant and `packages.json` at the top; what was there before is gone.
// The manifest is held against every rule that a reader has, and the code against the variant.
Result<VariantName> assemble(const AssembleOptions& options);

// Signs the manifest of every variant under `folder`; returns their folders.
Result<std::vector<std::filesystem::path>> sign_all(const std::filesystem::path& folder,
                                                    const PrivateKey& key);

}  // namespace epi::hub
