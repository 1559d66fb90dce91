// SPDX-License-Identifier: Apache-2.0
// The prebuilt pointwise kernel on the GPU for bench/against_torch.py. For each ROWSxCOLUMNS,
// prints its time according to the profiler, and that of a copy of the same number of bytes, as
// JSON.
//   gpu_prebuilt ROWSxCOLUMNS...
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/hub/kernel.h"
#include "epilogue/ops/functional.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int kCalls = 41;
constexpr int64_t kTouchedBytes = 400'000'000;  // total of all buffers, far more than an L2 holds

struct Times {
  double median_us;
  double min_us;
  double max_us;
};

// GPU time per call of `body`, which launches one kernel or copy.
template <typename Body>
Times device_times(const Body& body) {
  for (int i = 0; i < 5; ++i) body(i);
  cuda::synchronize();
  profile::ProfilerOptions options;
  options.schedule = profile::Schedule{0, 0, 1};
  profile::Profiler profiler(options);
  for (int i = 0; i < kCalls; ++i) body(i);
  profiler.step();
  const trace::Trace trace = profiler.take_trace();
  std::vector<double> times;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    const bool is_work = trace.category[id] == trace::Category::kKernel ||
                         trace.category[id] == trace::Category::kGpuMemcpy;
    if (is_work) times.push_back(static_cast<double>(trace.dur_ns[id]) / 1000);
  }
  if (times.size() != kCalls) fail("bench", "{} kernels in {} calls", times.size(), kCalls);
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

void measure(const hub::Kernels& glu, const std::string& text, bool last) {
  const size_t separator = text.find('x');
  const int64_t rows = std::atoll(text.c_str());
  const int64_t columns = std::atoll(text.c_str() + separator + 1);
  const TensorOptions options{DType::kBF16, kCuda};
  const int64_t bytes = 3 * rows * columns * 2;
  const int64_t sets = std::max<int64_t>(1, kTouchedBytes / bytes + 1);
  std::vector<std::vector<Tensor>> inputs;
  std::vector<Tensor> copied;
  for (int64_t i = 0; i < sets; ++i) {
    inputs.push_back({randn({rows, columns}, 1, options), randn({rows, columns}, 2, options)});
    copied.push_back(empty({bytes / 4}, options));  // read plus written: the same number of bytes
  }
  std::vector<Tensor> kept(static_cast<size_t>(sets));  // outputs also alternate
  const auto index_of = [&](int i) { return static_cast<size_t>(i) % static_cast<size_t>(sets); };
  const Times ours = device_times(
      [&](int i) { kept[index_of(i)] = glu.call("gelu_tanh_and_mul", inputs[index_of(i)]); });
  const Times copy = device_times([&](int i) { kept[index_of(i)] = clone(copied[index_of(i)]); });
  fmt::print(R"({{"shape": "{}", "us": {:.3f}, "us_min": {:.3f}, "us_max": {:.3f}, )"
             R"("copy_us": {:.3f}, "bytes": {}, "gbps": {:.0f}}}{})",
             text, ours.median_us, ours.min_us, ours.max_us, copy.median_us, bytes,
             static_cast<double>(bytes) / ours.median_us / 1000, last ? "" : ", ");
}

int run(const std::vector<std::string>& shapes) {
  register_cpu_backend();
  if (const auto ready = register_cuda_backend(); !ready) throw Error(ready.error().message);
  const auto glu = hub::get_kernel("epilogue/glu", 1, kCuda);
  if (!glu) throw Error(glu.error().message);
  fmt::print("[");
  for (const std::string& shape : shapes) measure(*glu, shape, &shape == &shapes.back());
  fmt::print("]\n");
  return 0;
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  try {
    return epi::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_prebuilt: {}\n", error.what());
    return 2;
  }
}
