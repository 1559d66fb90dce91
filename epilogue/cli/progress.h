// SPDX-License-Identifier: Apache-2.0
// A line on standard error while a person waits: after a second, on a terminal only, and gone when
// the work is done.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

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

}  // namespace epi::cli
