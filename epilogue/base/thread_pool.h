// SPDX-License-Identifier: Apache-2.0
// The process-wide thread pool. A range is split into several parts per thread, which the workers
// and the caller claim one by one. Calls of several threads share the workers: a call gets those
// that are free. On one core, no worker is created.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

namespace epi {

// The largest value of EPILOGUE_THREADS. Each thread reserves a stack, by default of 8 MB: 1024
// threads reserve 8 GB of address space.
inline constexpr int kMaxThreads = 1024;

// Number of threads that `parallel_for` uses, including the caller: the one set below, else
// EPILOGUE_THREADS if it is a number from 1 to `kMaxThreads`, otherwise the number of cores
// available to the process.
int num_threads();
// Takes effect for calls that start later. Throws `Error` unless it is from 1 to `kMaxThreads`.
void set_num_threads(int threads);

// Runs work in the caller's own threads instead of the pool: calls `run(part)` once for each part
// from 0 to `parts` - 1, in any threads and in any order, and returns when all have returned. `run`
// does not throw.
// Several threads may call the executor at once. While it waits, it must not run other calls of the
// library in the waiting thread.
using Executor = std::function<void(int64_t parts, const std::function<void(int64_t)>& run)>;
// An empty executor restores the pool. Work is split for `num_threads()` threads. Call it while no
// operator runs.
void set_executor(Executor executor);

namespace detail {
using RangeBody = void (*)(void* context, int64_t begin, int64_t end);
void parallel_ranges(int64_t count, int64_t grain, RangeBody body, void* context);
}  // namespace detail

// Calls `body(begin, end)` over a partition of [0, count). Only the last part may be smaller than
// `grain`. Returns when all parts are done. A call from inside `body` runs its whole range in the
// calling thread. An exception thrown by `body` is rethrown in the caller once all parts are done.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  detail::parallel_ranges(
      count, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<Callable*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace epi
