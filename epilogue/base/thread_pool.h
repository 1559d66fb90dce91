// SPDX-License-Identifier: Apache-2.0
// The one thread pool of the process. A range is cut into a few parts a thread, which the threads
// and the caller claim one by one: one core needs no thread at all.
#pragma once

#include <cstdint>
#include <type_traits>

namespace epi {

// Threads that `parallel_for` uses, the caller included: EPILOGUE_THREADS, else the process's
// cores.
int num_threads();

namespace detail {
using RangeBody = void (*)(void* context, int64_t begin, int64_t end);
void parallel_ranges(int64_t count, int64_t grain, RangeBody body, void* context);
}  // namespace detail

// Calls `body(begin, end)` over a partition of [0, count); no part but the last is under `grain`.
// Returns when all parts are done. A call from inside `body`, or while another thread's call is
// running, does its whole range in the calling thread. What `body` throws reaches the caller, once
// all parts are done.
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
