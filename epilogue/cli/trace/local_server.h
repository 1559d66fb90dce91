// SPDX-License-Identifier: Apache-2.0
// An HTTP server on 127.0.0.1 for a few fixed paths, one connection at a time. It answers GET and
// HEAD for known paths, and 404 for all others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace epi::cli {

class LocalServer {
 public:
  struct Answer {
    std::string_view body;
    const char* type;
    bool last = false;  // the server stops after sending this
  };
  using Find = std::function<std::optional<Answer>(const std::string& path)>;

  // Throws `Error` if the port is in use. `origin` is the web page that may read the answers.
  LocalServer(uint16_t port, std::string origin);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Serves until Ctrl-C, or until an answer with `last` was sent.
  void run(const Find& find);

 private:
  bool answer(int connection, const Find& find) const;

  int socket_ = -1;
  uint16_t port_;
  std::string origin_;
};

}  // namespace epi::cli
