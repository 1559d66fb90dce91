// SPDX-License-Identifier: Apache-2.0
// A value that is computed when it is first needed, once, also if several threads need it.
#pragma once

#include <mutex>
#include <optional>

namespace epi {

template <typename T>
class Lazy {
 public:
  // `make` must be the same function in every call. If it throws, the next call runs it again.
  template <typename Make>
  const T& get(const Make& make) const {
    std::call_once(once_, [&] { value_.emplace(make()); });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::optional<T> value_;
};

}  // namespace epi
