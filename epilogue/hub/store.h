// SPDX-License-Identifier: Apache-2.0
// Fetched variants on disk: `hub/<sha256 of the manifest>/` in the cache folder, with the files as
// the package has them. A folder appears whole, by a rename: several processes may fetch the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "epilogue/base/result.h"
#include "epilogue/hub/source.h"
#include "epilogue/hub/trust.h"

namespace epi::hub {

// Where the variant with this manifest lies, or would; none where there is no cache folder.
std::optional<std::filesystem::path> stored_folder(const std::string& manifest_sha256);

// The manifest and its signature, asked for and checked; no other file is.
Result<CheckedManifest> read_manifest(const Source& source, const VariantName& name,
                                      const Trust& trust);

// What a fetch came to: a folder, or why the manifest was refused before any file was asked for.
struct Fetched {
  std::filesystem::path folder;
  CheckedManifest checked;
};
// Asks for the manifest and its signature, checks them, and then for the files that are not there
// yet. `again`: a stored copy that is not what it was is replaced.
Result<Fetched> fetch_variant(const Source& source, const VariantName& name, const Trust& trust,
                              bool again, const FetchProgress& progress);

}  // namespace epi::hub
