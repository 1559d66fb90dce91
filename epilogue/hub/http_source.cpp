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
#include "epilogue/hub/parse_count.h"

namespace epi::hub {
namespace {

using std::chrono::steady_clock;

constexpr int64_t kMaxIndexBytes = 16 << 20;
constexpr int64_t kDefaultTimeoutS = 30;
constexpr int64_t kMinBytesPerS = 64 << 10;  // a server that is slower is given up

// Without an answer for so long the server is given up: EPILOGUE_HUB_TIMEOUT, in seconds.
int64_t timeout_s() {
  const char* text = std::getenv("EPILOGUE_HUB_TIMEOUT");
  const auto seconds = text != nullptr ? parse_count(text) : std::nullopt;
  return seconds && *seconds > 0 ? *seconds : kDefaultTimeoutS;
}

// One answer as it comes in, given up as soon as it cannot be right.
struct Download {
  int64_t most_bytes;
  const FetchProgress& progress;
  int64_t timeout = timeout_s();
  steady_clock::time_point start = steady_clock::now();
  int64_t announced = -1;
  std::atomic<bool> has_begun = false;
  bool is_missing = false;
  std::string bytes{};
  std::string error{};

  bool begin(const httplib::Response& response) {
    has_begun = true;
    is_missing = response.status == 404;
    if (response.status != 200) {
      error = fmt::format("the server answers {}", response.status);
      return false;
    }
    announced = parse_count(response.get_header_value("Content-Length")).value_or(-1);
    if (announced > most_bytes) {
      error = fmt::format("{} bytes, at most {} are allowed", announced, most_bytes);
      return false;
    }
    return true;
  }
  bool add(const char* data, size_t size) {
    bytes.append(data, size);
    const auto got = static_cast<int64_t>(bytes.size());
    if (got > most_bytes) {
      error = fmt::format("more than {} bytes, which are allowed", most_bytes);
      return false;
    }
    const std::chrono::duration<double> taken = steady_clock::now() - start;
    const double allowed_s =
        static_cast<double>(timeout) + static_cast<double>(got) / kMinBytesPerS;
    if (taken.count() > allowed_s) {
      error = fmt::format("too slow: {} bytes in {:.0f} s", got, taken.count());
      return false;
    }
    if (progress) progress(got, announced);
    return true;
  }
};

// What httplib says in one word.
std::string error_text(httplib::Error error, const Download& download) {
  switch (error) {
    case httplib::Error::Connection:
      return "cannot connect";
    case httplib::Error::Read:
      return fmt::format("the connection was cut, or silent for {} s, after {} bytes",
                         download.timeout, download.bytes.size());
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
      return "no TLS connection";
    case httplib::Error::SSLServerVerification:
      return "the server's certificate is not trusted";
    case httplib::Error::ExceedRedirectCount:
      return "it redirects again and again";
    default:
      return httplib::to_string(error);
  }
}

// Stops a client that has not even got an answer's head in time: it waits for each byte anew.
class Watchdog {
 public:
  Watchdog(httplib::Client& client, Download& download)
      : thread_([&client, &download, this] {
          std::unique_lock lock(mutex_);
          const auto limit = std::chrono::seconds(download.timeout);
          const bool in_time =
              over_.wait_for(lock, limit, [&] { return is_over_ || download.has_begun; });
          if (!in_time) client.stop();
        }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

class HttpSource final : public Source {
 public:
  // `server` is "https://example.org:8080", `top` the path below it.
  HttpSource(std::string address, std::string server, std::string top)
      : address_(std::move(address)), server_(std::move(server)), top_(std::move(top)) {}

  const std::string& name() const override { return address_; }
  bool is_remote() const override { return true; }

  Result<PackageIndex> index() const override {
    const auto text = read("packages.json", kMaxIndexBytes);
    EPI_TRY(text);
    return parse_index(*text, address_ + "/packages.json");
  }

  Result<std::optional<std::string>> find(const std::string& path, int64_t most_bytes,
                                          const FetchProgress& progress) const override {
    httplib::Client client(server_);
    Download download{most_bytes, progress};
    client.set_connection_timeout(download.timeout);
    client.set_read_timeout(download.timeout);
    client.set_follow_location(true);
    client.set_decompress(false);
    const Watchdog watchdog(client, download);
    const auto answer = client.Get(
        top_ + "/" + path, httplib::Headers{{"Accept-Encoding", "identity"}},
        [&](const httplib::Response& response) { return download.begin(response); },
        [&](const char* data, size_t size) { return download.add(data, size); });
    if (download.is_missing) return std::optional<std::string>();
    std::string error = download.error;
    if (error.empty() && !answer) error = error_text(answer.error(), download);
    const auto got = static_cast<int64_t>(download.bytes.size());
    if (error.empty() && download.announced >= 0 && got != download.announced) {
      error = fmt::format("{} bytes came, {} were announced", got, download.announced);
    }
    if (!error.empty()) return failure("{}/{}: {}", address_, path, error);
    return std::optional(std::move(download.bytes));
  }

 private:
  std::string address_;
  std::string server_;
  std::string top_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_http_source(const std::string& address) {
  const size_t host = address.find("://") + 3;
  const size_t slash = std::min(address.find('/', host), address.size());
  if (slash == host || address.find_first_of(" ?#\\@") != std::string::npos) {
    return failure("an address such as https://example.org/kernels is needed");
  }
  std::string top = address.substr(slash);
  while (top.ends_with('/')) top.pop_back();
  const std::string server = address.substr(0, slash);
  return std::make_unique<HttpSource>(server + top, server, top);
}

}  // namespace epi::hub
