// SPDX-License-Identifier: Apache-2.0
// Addresses of file servers, and which redirects are followed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi::hub {

struct HttpUrl {
  std::string server;  // "https://example.org:8080"
  std::string path;    // "/kernels", or empty
};
// Returns nothing if the address is not http: or https:, or has a user name or a space.
std::optional<HttpUrl> parse_http_url(std::string_view address);

// Where a redirect of `from` leads. Fails if it leaves the server, except from http: to https: on
// the same host, unless `any`. Never leads to anything but http: and https:.
Result<HttpUrl> redirect_target(const HttpUrl& from, std::string_view location, bool any);

}  // namespace epi::hub
