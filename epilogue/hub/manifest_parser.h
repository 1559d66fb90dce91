// SPDX-License-Identifier: Apache-2.0
// Parses a manifest. docs/hub.md documents the schema.
#pragma once

#include <string_view>

#include "epilogue/base/result.h"
#include "epilogue/hub/manifest.h"

namespace epi::hub {

// Accepts untrusted input. `path` is used in messages.
Result<Manifest> parse_manifest(std::string_view text, std::string_view path);

}  // namespace epi::hub
