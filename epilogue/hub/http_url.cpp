// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/http_url.h"

#include <algorithm>

#include "epilogue/base/json_writer.h"

namespace epi::hub {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// "https://Example.org:443" -> "https://example.org"
std::string normalized(std::string_view server) {
  std::string text = lower_case(server);
  const std::string_view port = text.starts_with(kHttps) ? ":443" : ":80";
  if (text.ends_with(port)) text.resize(text.size() - port.size());
  return text;
}

bool is_allowed(const std::string& from, const std::string& to) {
  const std::string before = normalized(from);
  const std::string after = normalized(to);
  const bool secured = before.starts_with(kHttp) && after.starts_with(kHttps) &&
                       before.substr(kHttp.size()) == after.substr(kHttps.size());
  return before == after || secured;
}

}  // namespace

std::optional<HttpUrl> parse_http_url(std::string_view address) {
  const std::string start = lower_case(address.substr(0, kHttps.size()));
  const bool is_https = start == kHttps;
  if (!is_https && !start.starts_with(kHttp)) return std::nullopt;
  const auto is_refused = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 127 || c == '\\';
  };
  if (std::ranges::any_of(address, is_refused)) return std::nullopt;
  const size_t host = is_https ? kHttps.size() : kHttp.size();
  const size_t end = std::min(address.find_first_of("/?#", host), address.size());
  if (end == host || address.substr(host, end - host).find('@') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view scheme = is_https ? kHttps : kHttp;
  return HttpUrl{std::string(scheme) + std::string(address.substr(host, end - host)),
                 std::string(address.substr(end))};
}

Result<HttpUrl> redirect_target(const HttpUrl& from, std::string_view location, bool any) {
  const std::string_view without_fragment = location.substr(0, location.find('#'));
  std::string target(without_fragment);
  if (target.starts_with("//")) {  // the same scheme
    target = from.server.substr(0, from.server.find("//")) + target;
  } else if (target.starts_with('/')) {
    target = from.server + target;
  } else if (target.find("://") == std::string::npos) {  // beside the file
    const std::string_view path = std::string_view(from.path).substr(0, from.path.find('?'));
    target = from.server + std::string(path.substr(0, path.rfind('/') + 1)) + target;
  }
  const auto url = parse_http_url(target);
  if (!url) return failure("the server redirects to {}, which is refused", json_quoted(location));
  if (!any && !is_allowed(from.server, url->server)) {
    return failure(
        "the server redirects to {}, which is another server: use that address as the source, or "
        "set EPILOGUE_HUB_REDIRECTS=any to follow it",
        json_quoted(location));
  }
  return HttpUrl{url->server, url->path.empty() ? "/" : url->path};
}

}  // namespace epi::hub
