// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace epi::cli {

using namespace std::chrono_literals;

void Progress::show(std::string_view what, size_t count) {
  const auto now = Clock::now();
  if (now - start_ < 1s || now - shown_ < 100ms || ::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{} {}\033[K", what, count);
  shown_ = now;
}

Progress::~Progress() {
  if (shown_ != Clock::time_point()) fmt::print(stderr, "\r\033[K");
}

WaitingLine::WaitingLine(const std::string& what, const char* activity) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread([this, line = fmt::format("{} {}", activity, what)] {
    std::unique_lock lock(mutex_);
    if (done_.wait_for(lock, 1s, [this] { return is_done_; })) return;
    fmt::print(stderr, "{}", line);
    done_.wait(lock, [this] { return is_done_; });
    fmt::print(stderr, "\r\033[K");
  });
}

WaitingLine::~WaitingLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  done_.notify_one();
  thread_.join();
}

}  // namespace epi::cli
