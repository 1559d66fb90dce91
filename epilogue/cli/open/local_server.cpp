// SPDX-License-Identifier: Apache-2.0
// Written without cpp-httplib, which a build of the reader alone does not require.
#include "epilogue/cli/open/local_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <list>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/open/http_request.h"

namespace epi::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kMaxClients = 16;
constexpr auto kRequestTime = seconds(5);
constexpr auto kAnswerTime = seconds(30);          // plus the time at the slowest rate
constexpr int64_t kMinBytesPerS = 64 << 10;        // slower clients are disconnected
constexpr size_t kChunkBytes = size_t{256} << 10;  // of a file

// `_exit` is allowed in a signal handler. The server has nothing to save.
void end_process(int) { ::_exit(kDone); }

void end_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = end_process;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

// A connection to a client whose operations end at a deadline.
class Client {
 public:
  explicit Client(int fd) : fd_(fd) { set_deadline(kRequestTime); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(fd_); }

  void set_deadline(Clock::duration time) { deadline_ = Clock::now() + time; }

  // Reads the request up to the empty line. Empty if it is incomplete, too long or late.
  std::string read_head() const {
    std::string head;
    char buffer[2048];
    while (head.find("\r\n\r\n") == std::string::npos) {
      if (head.size() > kMaxRequestBytes || !wait_for(POLLIN)) return {};
      const ssize_t count = ::recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return {};
      if (count > 0) head.append(buffer, static_cast<size_t>(count));
    }
    return head;
  }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      if (!wait_for(POLLOUT)) return false;
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Ends a read or a write in another thread.
  void disconnect() const { ::shutdown(fd_, SHUT_RDWR); }

 private:
  static constexpr size_t kMaxRequestBytes = 16 * 1024;

  bool wait_for(short event) const {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()).count();
    pollfd waiting{fd_, event, 0};
    return left > 0 && ::poll(&waiting, 1, static_cast<int>(left)) != 0;
  }

  int fd_;
  Clock::time_point deadline_;
};

// What is sent: a text, or a file as it is at the time of the request.
class Body {
 public:
  explicit Body(const LocalServer::Answer& answer) : text_(answer.text) {
    if (answer.file.empty()) {
      size_ = static_cast<int64_t>(text_ ? text_->size() : 0);
      return;
    }
    fd_ = ::open(answer.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status = {};
    if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size;
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  ~Body() {
    if (fd_ >= 0) ::close(fd_);
  }

  // -1 if the file cannot be read.
  int64_t size() const { return size_; }

  // False if the client did not get everything, also because the file became shorter.
  bool send(const Client& client) const {
    if (fd_ < 0) return client.send(text_ ? std::string_view(*text_) : "");
    std::vector<char> buffer(kChunkBytes);
    for (int64_t at = 0; at < size_;) {
      const auto wanted = std::min(static_cast<int64_t>(buffer.size()), size_ - at);
      const ssize_t got = ::pread(fd_, buffer.data(), static_cast<size_t>(wanted), at);
      if (got <= 0 || !client.send({buffer.data(), static_cast<size_t>(got)})) return false;
      at += got;
    }
    return true;
  }

 private:
  std::shared_ptr<const std::string> text_;
  int fd_ = -1;
  int64_t size_ = -1;
};

// Answers one request. Returns whether it was the last one.
class Responder {
 public:
  Responder(Client& client, uint16_t port, const std::string& origin)
      : client_(client), port_(port), origin_(origin) {}

  bool answer(const LocalServer::Find& find) const {
    const HttpRequest request = parse_request(client_.read_head());
    if (request.method.empty()) return false;
    // Rejects other host names that resolve to this address (DNS rebinding).
    const bool known = request.host == fmt::format("127.0.0.1:{}", port_) ||
                       request.host == fmt::format("localhost:{}", port_);
    const bool gets = request.method == "GET";
    const bool reads = gets || request.method == "HEAD";
    if (!known) return refuse("403 Forbidden", true);
    if (request.method == "OPTIONS") return refuse("204 No Content", false);
    if (!reads) return refuse("405 Method Not Allowed", true);
    const auto found = find(request.path);
    if (!found) return refuse("404 Not Found", gets);
    const Body body(*found);
    if (body.size() < 0) return refuse("404 Not Found", gets);
    client_.set_deadline(kAnswerTime + seconds(body.size() / kMinBytesPerS));
    const bool sent =
        client_.send(head("200 OK", found->type, body.size())) && gets && body.send(client_);
    return sent && found->last;
  }

 private:
  std::string head(const char* status, const char* type, int64_t bytes) const {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
        "Access-Control-Allow-Origin: {}\r\nAccess-Control-Allow-Private-Network: true\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        status, type, bytes, origin_);
  }
  bool refuse(const char* status, bool with_body) const {
    constexpr std::string_view kText = "not found\n";
    const std::string_view body = with_body ? kText : "";
    client_.set_deadline(kAnswerTime);
    client_.send(head(status, "text/plain", static_cast<int64_t>(body.size())) + std::string(body));
    return false;
  }

  Client& client_;
  uint16_t port_;
  const std::string& origin_;
};

// A client and the thread that serves it.
struct Session {
  explicit Session(int fd) : client(fd) {}
  Client client;
  std::atomic<bool> is_done = false;
  std::jthread thread;  // last: joined before the client is closed
};

}  // namespace

LocalServer::LocalServer(uint16_t port, std::string origin)
    : port_(port), origin_(std::move(origin)) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  const bool ready =
      socket_ >= 0 && ::bind(socket_, raw, sizeof address) == 0 && ::listen(socket_, 64) == 0;
  if (!ready) {
    const int error = errno;
    if (socket_ >= 0) ::close(socket_);
    fail("open", "cannot listen on 127.0.0.1:{}: {}", port, std::strerror(error));
  }
}

LocalServer::~LocalServer() { ::close(socket_); }

void LocalServer::run(const Find& find) {
  end_on_interrupt();
  std::atomic<bool> is_finished = false;
  std::list<Session> sessions;
  while (!is_finished) {
    sessions.remove_if([](const Session& session) { return session.is_done.load(); });
    // A short wait notices clients that are done.
    constexpr int kWaitMs = 50;
    pollfd waiting{socket_, POLLIN, 0};
    const bool is_full = sessions.size() >= kMaxClients;
    if (::poll(is_full ? nullptr : &waiting, is_full ? 0 : 1, kWaitMs) <= 0) continue;
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    Session& session = sessions.emplace_back(connection);
    const auto serve = [this, &find, &session, &is_finished] {
      try {
        if (Responder(session.client, port_, origin_).answer(find)) is_finished = true;
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for this client
      }
      session.client.disconnect();
      session.is_done = true;
    };
    try {
      session.thread = std::jthread(serve);
    } catch (const std::system_error&) {
      session.is_done = true;  // no more threads: this client is disconnected
    }
  }
  for (const Session& session : sessions) session.client.disconnect();
}

}  // namespace epi::cli
