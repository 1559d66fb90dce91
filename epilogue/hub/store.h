// SPDX-License-Identifier: Apache-2.0
// Fetched variants on disk: `hub/<sha256 of the manifest>-<of its signature>/` in the cache folder,
// with the same layout as in the package. A folder is created atomically by a rename and never
// modified, so any number of processes may fetch and read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/source.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// The stored copies of the variant with this manifest, with any signature. Fails if other users can
// write to the store.
Result<std::vector<std::filesystem::path>> stored_folders(const std::string& manifest_sha256);

// Fetches and checks only the manifest and its signature.
Result<CheckedManifest> read_manifest(const Source& source, const VariantName& name,
                                      const Trust& trust);

// Fetches and checks the manifest and its signature, then fetches the files if they are not stored
// yet. Problems are returned as violations, and nothing is stored in that case. With
// `refetch_damaged`, a modified stored copy is replaced.
struct Fetched {
  CheckedVariant variant;
  std::filesystem::path folder;
};
Result<Fetched> fetch_variant(const Source& source, const VariantName& name, const Trust& trust,
                              bool refetch_damaged, const FetchProgress& progress);

}  // namespace epi::hub
