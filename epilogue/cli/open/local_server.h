// SPDX-License-Identifier: Apache-2.0
// An HTTP server on 127.0.0.1 for a few fixed paths. It answers GET and HEAD for known paths, and
// 404 for all others. Several clients are served at once, each within a deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace epi::cli {

class LocalServer {
 public:
  struct Answer {
    std::string file;                         // to send as it is now; empty: send the text
    std::shared_ptr<const std::string> text;  // shared with other requests
    const char* type;
    bool last = false;  // the server stops after sending this
  };
  // Called by several threads at once.
  using Find = std::function<std::optional<Answer>(const std::string& path)>;

  // Throws `Error` if the port is in use. `origin` is the web page that may read the answers.
  LocalServer(uint16_t port, std::string origin);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Serves until an answer with `last` was sent. Ctrl-C and SIGTERM end the process at once, with
  // exit code 0, whatever the server is doing.
  void run(const Find& find);

 private:
  int socket_ = -1;
  uint16_t port_;
  std::string origin_;
};

}  // namespace epi::cli
