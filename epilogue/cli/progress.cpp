// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "epilogue/base/visible_text.h"

namespace epi::cli {

using namespace std::chrono_literals;

namespace {

// Replaces the line on the terminal.
void write_line(std::string_view text) {
  const std::string line = "\r" + visible_text(text, LineBreaks::kReplace) + "\033[K";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

void Progress::show(std::string_view what, size_t count) {
  const auto now = Clock::now();
  if (now - start_ < 1s || now - shown_ < 100ms || ::isatty(STDERR_FILENO) == 0) return;
  write_line(fmt::format("{} {}", what, count));
  shown_ = now;
}

Progress::~Progress() {
  if (shown_ != Clock::time_point()) write_line("");
}

WaitingLine::WaitingLine(const std::string& what, const char* activity) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread([this, line = fmt::format("{} {}", activity, what)] {
    std::unique_lock lock(mutex_);
    if (done_.wait_for(lock, 1s, [this] { return is_done_; })) return;
    write_line(line);
    // Not `wait`: GCC 12 binds it to a version of the C++ library that RHEL 9 does not have.
    while (!done_.wait_for(lock, 1h, [this] { return is_done_; })) continue;
    write_line("");
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
