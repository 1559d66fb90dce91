// SPDX-License-Identifier: Apache-2.0
// Packages on a file server.
#pragma once

#include "epilogue/hub/source.h"

namespace epi::hub {

// Fails if EPILOGUE_HUB_TIMEOUT or EPILOGUE_HUB_REDIRECTS has a value that is not known. Requests
// use the default instead.
Result<void> check_http_environment();

// Opens a source such as "https://example.org/kernels". Sends no request yet.
Result<std::unique_ptr<Source>> open_http_source(const std::string& address);

}  // namespace epi::hub
