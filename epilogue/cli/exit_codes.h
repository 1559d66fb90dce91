// SPDX-License-Identifier: Apache-2.0
// What the tool exits with, and the errors that decide it.
#pragma once

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"

namespace epi::cli {

inline constexpr int kDone = 0;
inline constexpr int kBroken = 1;  // a broken expectation, or a package that is not trusted
inline constexpr int kUsage = 2;   // usage, input, network, memory, disk
inline constexpr int kBug = 3;     // our own

// An error with a list of reasons, each on a line of its own: exits with kUsage.
class ListError : public Error {
 public:
  using Error::Error;
};
// A package that is not trusted: exits with kBroken.
class Refused : public ListError {
 public:
  using ListError::ListError;
};

// What failed outside, a file or a package, ends the verb with kUsage.
template <typename T>
void throw_if_failed(const Result<T>& result) {
  if (!result) throw Error(result.error().message);
}

}  // namespace epi::cli
