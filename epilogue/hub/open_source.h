// SPDX-License-Identifier: Apache-2.0
// A source by its address: a folder, or a file server.
#pragma once

#include <memory>
#include <string>

#include "epilogue/hub/source.h"

namespace epi::hub {

// A folder that does not exist, and an address of another kind, are failures.
Result<std::unique_ptr<Source>> open_source(const std::string& text);

}  // namespace epi::hub
