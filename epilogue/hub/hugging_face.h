// SPDX-License-Identifier: Apache-2.0
// Reads folders of Hugging Face's `kernels` hub: lists the variants in `build/` and compares their
// files with the digest in `metadata.json`. Does not check Sigstore bundles.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/base/result.h"

namespace epi::hub {

struct HuggingFaceVariant {
  std::string variant;
  std::string name;  // empty: not in the metadata
  std::optional<int64_t> version;
  std::string license;
  std::string backend;             // "cuda"
  std::vector<std::string> archs;  // "9.0+PTX"
  bool has_bundle = false;         // metadata.json.sigstore
  std::string algorithm;           // of the digest; empty: no digest
  std::vector<std::string> violations;
};

// Whether the folder contains a build/<variant>/metadata.json.
bool is_hugging_face(const std::filesystem::path& folder);
// All variants, sorted by name. Fails if `folder` has none.
Result<std::vector<HuggingFaceVariant>> read_hugging_face(const std::filesystem::path& folder);

}  // namespace epi::hub
