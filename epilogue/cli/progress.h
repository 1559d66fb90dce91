// SPDX-License-Identifier: Apache-2.0
// A line on standard error while a person waits: after a second, on a terminal only, and gone when
// the work is done.
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

  void show(std::string_view what, size_t count);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
};

// The same for work that cannot be counted: "reading FILE" from the second second on.
class WaitingLine {
 public:
  explicit WaitingLine(const std::string& what);
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;
  ~WaitingLine();

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace epi::cli
