// SPDX-License-Identifier: Apache-2.0
// Exit codes of the command, and the errors that map to them.
#pragma once

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"

namespace epi {

inline constexpr int kDone = 0;
inline constexpr int kBroken = 1;  // a broken expectation, or a package that is not trusted
inline constexpr int kUsage = 2;   // usage, input, network, memory, disk
inline constexpr int kBug = 3;     // a bug in Epilogue

// An error with a list of reasons, one per line. Exits with kUsage.
class ListError : public Error {
 public:
  using Error::Error;
};
// A package that is not trusted. Exits with kBroken.
class Refused : public ListError {
 public:
  using ListError::ListError;
};

// Turns a failed Result, such as an unreadable file, into an Error that exits with kUsage.
template <typename T>
void throw_if_failed(const Result<T>& result) {
  if (!result) throw Error(result.error().message);
}

}  // namespace epi
