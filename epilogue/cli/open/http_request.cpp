// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/open/http_request.h"

#include <strings.h>

#include <string_view>

namespace epi::cli {
namespace {

// The value of the Host header, whose name is case-insensitive.
std::string host_of(const std::string& head) {
  constexpr std::string_view kName = "host:";
  std::string host;
  for (size_t line = head.find("\r\n"); line != std::string::npos;
       line = head.find("\r\n", line + 2)) {
    const size_t begin = line + 2;
    const bool is_host = ::strncasecmp(head.c_str() + begin, kName.data(), kName.size()) == 0;
    if (!is_host) continue;
    if (!host.empty()) return {};
    const size_t from = head.find_first_not_of(" \t", begin + kName.size());
    host = head.substr(from, head.find("\r\n", from) - from);
    host.erase(host.find_last_not_of(" \t") + 1);
  }
  return host;
}

}  // namespace

HttpRequest parse_request(const std::string& head) {
  const size_t space = head.find(' ');
  if (space == std::string::npos) return {};
  const size_t end = head.find(' ', space + 1);
  return {head.substr(0, space), head.substr(space + 1, end - space - 1), host_of(head)};
}

}  // namespace epi::cli
