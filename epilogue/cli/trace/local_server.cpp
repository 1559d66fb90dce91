// SPDX-License-Identifier: Apache-2.0
// Written without cpp-httplib, which a build of the reader alone does not require.
#include "epilogue/cli/trace/local_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "epilogue/base/error.h"

namespace epi::cli {
namespace {

constexpr size_t kMaxRequestBytes = 16 * 1024;
constexpr int kRequestSeconds = 1;  // browsers open connections that they may never use
constexpr int kAnswerSeconds = 30;

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

// Blocks SIGINT and SIGTERM except while the server waits for a connection, so that none is lost.
// Returns the signal mask for that wait.
sigset_t catch_interrupt() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGINT);
  ::sigaddset(&blocked, SIGTERM);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  return before;
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Reads the request up to the empty line. Empty if the request is incomplete or too long.
std::string read_head(int connection) {
  std::string head;
  char buffer[2048];
  while (head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0 || head.size() > kMaxRequestBytes) return {};
    head.append(buffer, static_cast<size_t>(count));
  }
  return head;
}

// The value of the Host header, which is case-insensitive. Empty if there is none or more than one.
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

LocalServer::LocalServer(uint16_t port, std::string origin)
    : port_(port), origin_(std::move(origin)) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  const bool ready =
      socket_ >= 0 && ::bind(socket_, raw, sizeof address) == 0 && ::listen(socket_, 8) == 0;
  if (!ready) {
    const int error = errno;
    if (socket_ >= 0) ::close(socket_);
    fail("open", "cannot listen on 127.0.0.1:{}: {}", port, std::strerror(error));
  }
}

LocalServer::~LocalServer() { ::close(socket_); }

void LocalServer::run(const Find& find) {
  const sigset_t while_waiting = catch_interrupt();
  while (interrupted == 0) {
    pollfd waiting{socket_, POLLIN, 0};
    if (::ppoll(&waiting, 1, nullptr, &while_waiting) <= 0) continue;
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const timeval request{kRequestSeconds, 0};
    const timeval sending{kAnswerSeconds, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &request, sizeof request);
    ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &sending, sizeof sending);
    const bool last = answer(connection, find);
    ::close(connection);
    if (last) return;
  }
}

bool LocalServer::answer(int connection, const Find& find) const {
  const std::string head = read_head(connection);
  const size_t space = head.find(' ');
  if (space == std::string::npos) return false;
  const std::string method = head.substr(0, space);
  const std::string path = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
  const auto respond = [&](const char* status, const Answer& one, bool with_body) {
    const bool sent = send_all(
        connection,
        fmt::format(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
            "Access-Control-Allow-Origin: {}\r\nAccess-Control-Allow-Private-Network: true\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            status, one.type, one.body.size(), origin_));
    return sent && (!with_body || send_all(connection, one.body));
  };
  const Answer nothing{"not found\n", "text/plain", false};
  // Rejects other host names that resolve to this address (DNS rebinding).
  const std::string host = host_of(head);
  const bool known =
      host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
  const bool gets = method == "GET";
  const auto found = known && (gets || method == "HEAD") ? find(path) : std::nullopt;
  if (found) return respond("200 OK", *found, gets) && gets && found->last;
  if (!known) {
    respond("403 Forbidden", nothing, true);
  } else if (method == "OPTIONS") {
    respond("204 No Content", {"", "text/plain", false}, false);
  } else if (!gets && method != "HEAD") {
    respond("405 Method Not Allowed", nothing, true);
  } else {
    respond("404 Not Found", nothing, gets);
  }
  return false;
}

}  // namespace epi::cli
