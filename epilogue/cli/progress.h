// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: one line that appears after a second, only on a terminal, and is
// erased when the work is done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace epi::cli {

class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Shows "forward 12". Cheap enough to call in every iteration.
  void show(std::string_view what, size_t count);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
};

// The same for work without a count: "reading FILE" after a second.
class WaitingLine {
 public:
  explicit WaitingLine(const std::string& what, const char* activity = "reading");
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;
  ~WaitingLine();

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_;
};

}  // namespace epi::cli
