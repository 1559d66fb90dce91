// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/http_source.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "epilogue/base/result.h"
#include "epilogue/hub/http_url.h"
#include "epilogue/hub/parse_count.h"

namespace epi::hub {
namespace {

using std::chrono::steady_clock;

constexpr int kMaxRedirects = 5;
constexpr int64_t kDefaultTimeoutS = 30;
constexpr int64_t kMaxTimeoutS = 24 * 60 * 60;
constexpr int64_t kMinBytesPerS = 64 << 10;  // slower downloads are aborted

// Empty if the variable is not set.
std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// How long to wait for a response: EPILOGUE_HUB_TIMEOUT, in seconds.
std::optional<int64_t> chosen_timeout_s() {
  const auto seconds = parse_count(environment("EPILOGUE_HUB_TIMEOUT"));
  return seconds && *seconds > 0 && *seconds <= kMaxTimeoutS ? seconds : std::nullopt;
}

int64_t timeout_s() { return chosen_timeout_s().value_or(kDefaultTimeoutS); }

// Whether redirects to other servers are followed: EPILOGUE_HUB_REDIRECTS is "any".
bool follows_any_redirect() { return environment("EPILOGUE_HUB_REDIRECTS") == "any"; }

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// A response as it arrives. Aborts as soon as the response turns out to be invalid.
struct Download {
  int64_t max_bytes;
  const FetchProgress& progress;
  int64_t timeout = timeout_s();
  steady_clock::time_point start = steady_clock::now();
  int64_t announced = -1;
  std::atomic<bool> has_begun = false;
  bool is_missing = false;
  std::string location{};  // of a redirect
  std::string bytes{};
  std::string error{};

  bool begin(const httplib::Response& response) {
    has_begun = true;
    is_missing = response.status == 404;
    if (is_redirect(response.status)) location = response.get_header_value("Location");
    if (response.status != 200) {
      error = fmt::format("the server returned HTTP status {}", response.status);
      return false;
    }
    announced = parse_count(response.get_header_value("Content-Length")).value_or(-1);
    if (announced > max_bytes) {
      error = fmt::format("{} bytes exceed the limit of {}", announced, max_bytes);
      return false;
    }
    return true;
  }
  bool add(const char* data, size_t size) {
    bytes.append(data, size);
    const auto received = static_cast<int64_t>(bytes.size());
    if (received > max_bytes) {
      error = fmt::format("more than the allowed {} bytes", max_bytes);
      return false;
    }
    const std::chrono::duration<double> elapsed = steady_clock::now() - start;
    const double allowed_s =
        static_cast<double>(timeout) + static_cast<double>(received) / kMinBytesPerS;
    if (elapsed.count() > allowed_s) {
      error = fmt::format("too slow: {} bytes in {:.0f} s", received, elapsed.count());
      return false;
    }
    if (progress) progress(received, announced);
    return true;
  }
};

// Describes an httplib error.
std::string error_text(httplib::Error error, const Download& download) {
  switch (error) {
    case httplib::Error::Connection:
      return "cannot connect";
    case httplib::Error::Read:
      return fmt::format("the connection was closed or idle for {} s after {} bytes",
                         download.timeout, download.bytes.size());
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
      return "the TLS connection failed";
    case httplib::Error::SSLServerVerification:
      return "the server's certificate is not trusted";
    default:
      return httplib::to_string(error);
  }
}

// Stops a client that does not receive the response headers in time. The read timeout is not
// enough, because it restarts with each byte.
class Watchdog {
 public:
  Watchdog(httplib::Client& client, Download& download)
      : thread_([&client, &download, this] {
          std::unique_lock lock(mutex_);
          const auto limit = std::chrono::seconds(download.timeout);
          const bool in_time =
              done_.wait_for(lock, limit, [&] { return is_done_ || download.has_begun; });
          if (!in_time) client.stop();
        }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    done_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_;
};

class HttpSource final : public Source {
 public:
  HttpSource(std::string address, HttpUrl root)
      : address_(std::move(address)), root_(std::move(root)) {}

  const std::string& name() const override { return address_; }
  bool is_remote() const override { return true; }

  Result<std::optional<std::string>> find(const std::string& path, int64_t max_bytes,
                                          const FetchProgress& progress) const override {
    HttpUrl url{root_.server, root_.path + "/" + path};
    for (int redirects = 0;; ++redirects) {
      Download download{max_bytes, progress};
      std::string error = fetch(url, download);
      if (!download.location.empty()) {
        auto next = redirect_target(url, download.location, follows_any_redirect());
        if (next && redirects < kMaxRedirects) {
          url = std::move(*next);
          continue;
        }
        error = next ? "too many redirects" : next.error().message;
      }
      if (download.is_missing) return std::optional<std::string>();
      if (!error.empty()) return failure("{}/{}: {}", address_, path, error);
      return std::optional(std::move(download.bytes));
    }
  }

 private:
  // Returns an error; empty: `download` has all bytes.
  static std::string fetch(const HttpUrl& url, Download& download) {
    httplib::Client client(url.server);
    client.set_connection_timeout(download.timeout);
    client.set_read_timeout(download.timeout);
    client.set_follow_location(false);  // `find` follows redirects that are allowed
    client.set_decompress(false);
    const Watchdog watchdog(client, download);
    const auto result = client.Get(
        url.path, httplib::Headers{{"Accept-Encoding", "identity"}},
        [&](const httplib::Response& response) { return download.begin(response); },
        [&](const char* data, size_t size) { return download.add(data, size); });
    if (!download.error.empty()) return download.error;
    if (!result) return error_text(result.error(), download);
    const auto received = static_cast<int64_t>(download.bytes.size());
    if (download.announced >= 0 && received != download.announced) {
      return fmt::format("received {} bytes, but Content-Length is {}", received,
                         download.announced);
    }
    return "";
  }

  std::string address_;
  HttpUrl root_;
};

}  // namespace

Result<void> check_http_environment() {
  const std::string_view timeout = environment("EPILOGUE_HUB_TIMEOUT");
  if (!timeout.empty() && !chosen_timeout_s()) {
    return failure("EPILOGUE_HUB_TIMEOUT={}: must be a number of seconds from 1 to {}", timeout,
                   kMaxTimeoutS);
  }
  const std::string_view redirects = environment("EPILOGUE_HUB_REDIRECTS");
  if (!redirects.empty() && !follows_any_redirect()) {
    return failure("EPILOGUE_HUB_REDIRECTS={}: must be \"any\", or not set", redirects);
  }
  return {};
}

Result<std::unique_ptr<Source>> open_http_source(const std::string& address) {
  auto url = parse_http_url(address);
  if (!url || address.find_first_of("?#@") != std::string::npos) {
    return failure("invalid address: expected one such as https://example.org/kernels");
  }
  while (url->path.ends_with('/')) url->path.pop_back();
  return std::make_unique<HttpSource>(url->server + url->path, *url);
}

}  // namespace epi::hub
