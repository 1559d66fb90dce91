// SPDX-License-Identifier: Apache-2.0
// Folders of Hugging Face's `kernels` hub, read only: which variants `build/` holds, and whether
// their files are what the digest in `metadata.json` says. Their Sigstore bundles are not checked.
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
  std::string name;  // empty: the metadata does not say
  std::optional<int64_t> version;
  std::string license;
  std::string backend;             // "cuda"
  std::vector<std::string> archs;  // "9.0+PTX"
  bool has_bundle = false;         // metadata.json.sigstore
  std::string algorithm;           // of the digest; empty: there is none
  std::vector<std::string> violations;
};

// The folder has a build/<variant>/metadata.json.
bool is_hugging_face(const std::filesystem::path& folder);
// All variants, by name. A failure where `folder` cannot be read.
Result<std::vector<HuggingFaceVariant>> read_hugging_face(const std::filesystem::path& folder);

}  // namespace epi::hub
