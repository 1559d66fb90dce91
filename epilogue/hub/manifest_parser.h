// SPDX-License-Identifier: Apache-2.0
// Reads a manifest; docs/hub.md has the schema.
#pragma once

#include <string_view>

#include "epilogue/base/result.h"
#include "epilogue/hub/manifest.h"

namespace epi::hub {

// Any bytes are safe. `path` is for messages.
Result<Manifest> parse_manifest(std::string_view text, std::string_view path);

}  // namespace epi::hub
