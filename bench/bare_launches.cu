// SPDX-License-Identifier: Apache-2.0
// Host time of two launches of an empty kernel, for bench/gpu_blocks.py: what a block of two
// kernels costs at least.
#include <algorithm>
#include <chrono>
#include <vector>

namespace {
__global__ void empty_kernel() {}
}  // namespace

// The median in microseconds of `count` pairs of launches.
extern "C" double bare_launches_us(int count, cudaStream_t stream) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    if (i % 50 == 0) cudaStreamSynchronize(stream);  // the queue does not fill up
    const auto start = std::chrono::steady_clock::now();
    empty_kernel<<<1, 32, 0, stream>>>();
    empty_kernel<<<1, 32, 0, stream>>>();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[count / 2];
}
