// SPDX-License-Identifier: Apache-2.0
// Creates packages: assembles a recipe and compiled files into a variant's folder with its
// manifest, and signs the manifest.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/keys.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// The inputs besides the recipe, which is a manifest without "variant", "source" and hashes:
// {"name", "version", "license", "least_driver", "code", "files": [...], "exports", "layers"}.
struct AssembleOptions {
  std::filesystem::path recipe;
  std::string variant;
  std::filesystem::path files;  // folder of the compiled files; empty: the recipe's folder
  std::filesystem::path out;    // root folder of the packages
  std::optional<std::string> commit{};
  bool dirty = false;
  std::optional<std::string> expires{};  // a time, see utc_time.h
};

// Writes the variant's folder, replacing an existing one, and `packages.json` in the root folder.
// Checks the manifest against the schema and the code against the variant.
Result<VariantName> assemble(const AssembleOptions& options);

// Signs the manifest of every variant under `folder`, and `packages.json` if `folder` has one.
// Returns the folders of the variants.
Result<std::vector<std::filesystem::path>> sign_all(const std::filesystem::path& folder,
                                                    const PrivateKey& key);

}  // namespace epi::hub
