// SPDX-License-Identifier: Apache-2.0
// A value that threads read while one replaces it: each keeps what it got. The lock is held for a
// copied pointer. (std::atomic<std::shared_ptr> of libstdc++ 12 has a race of its own.)
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace epi {

template <typename T>
class SharedValue {
 public:
  // Null until the first `set`.
  std::shared_ptr<const T> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);  // the old one dies with the parameter, after the lock
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace epi
