// SPDX-License-Identifier: Apache-2.0
// The parts of an HTTP request that the server of `open` uses.
#pragma once

#include <string>

namespace epi::cli {

struct HttpRequest {
  std::string method;  // empty if the request is not valid
  std::string path;
  std::string host;  // empty if there is no Host header, or more than one
};

// `head` is the request up to the empty line.
HttpRequest parse_request(const std::string& head);

}  // namespace epi::cli
