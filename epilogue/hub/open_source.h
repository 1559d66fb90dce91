// SPDX-License-Identifier: Apache-2.0
// Opens a package source by its address: a folder or a file server.
#pragma once

#include <memory>
#include <string>

#include "epilogue/hub/source.h"

namespace epi::hub {

// Fails if the folder does not exist or the address is of another kind.
Result<std::unique_ptr<Source>> open_source(const std::string& text);

}  // namespace epi::hub
