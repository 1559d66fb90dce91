// SPDX-License-Identifier: Apache-2.0
// A server of a few fixed answers on 127.0.0.1, one connection after the other. It answers GET and
// HEAD of the paths that it is given, with 404 for everything else.
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
    bool last = false;  // the server ends when this was sent
  };
  using Find = std::function<std::optional<Answer>(const std::string& path)>;

  // Throws `Error` where the port is taken. `origin` is the page that may read the answers.
  LocalServer(uint16_t port, std::string origin);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Until Ctrl-C, or an answer that is the last.
  void run(const Find& find);

 private:
  bool answer(int connection, const Find& find) const;

  int socket_ = -1;
  uint16_t port_;
  std::string origin_;
};

}  // namespace epi::cli
