// SPDX-License-Identifier: Apache-2.0
// Fetched variants on disk: `hub/<sha256 of the manifest>-<of its signature>/` in the cache folder,
// with the files as the package has them. A folder appears whole, by a rename, and nothing is
// written into it afterwards: any number of processes may fetch and read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/source.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// Copies of variants with this manifest, under whichever signature.
std::vector<std::filesystem::path> stored_folders(const std::string& manifest_sha256);

// The manifest and its signature, asked for and checked; no other file is.
Result<CheckedManifest> read_manifest(const Source& source, const VariantName& name,
                                      const Trust& trust);

// Asks for the manifest and its signature, checks them, and then for the files that are not there
// yet. What is wrong with any of it are the result's violations; then nothing is kept.
// `refetch_damaged`: a stored copy that is not what it was is replaced.
struct Fetched {
  CheckedVariant variant;
  std::filesystem::path folder;
};
Result<Fetched> fetch_variant(const Source& source, const VariantName& name, const Trust& trust,
                              bool refetch_damaged, const FetchProgress& progress);

}  // namespace epi::hub
