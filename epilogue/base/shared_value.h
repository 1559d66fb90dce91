// SPDX-License-Identifier: Apache-2.0
// A value that threads can read while another thread replaces it. A reader keeps the value it got.
// The lock is held only while a pointer is copied. (std::atomic<std::shared_ptr> in libstdc++ 12
// has a data race.)
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
    value_.swap(value);  // the old value is destroyed with the parameter, after the unlock
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace epi
