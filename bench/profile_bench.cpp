// SPDX-License-Identifier: Apache-2.0
// The cost of recording: a recorded view operator in total, the hook without a listener, and the
// memory of a long recording from its first event to the written file.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "bench/suite.h"
#include "epilogue/base/error.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/trace/writer.h"
#ifdef EPI_HAS_CUDA
#include "bench/profile_gpu_bench.h"
#endif

namespace epi::bench {
namespace {

constexpr int kCalls = 20000;
constexpr double kRecordedLimitNs = 200;
constexpr double kShapesLimitNs = 500;
constexpr double kHookLimitNs = 5;
constexpr int64_t kManyEvents = 10'000'000;
constexpr double kBytesPerEventLimit = 300;

// A side whose calls are recorded. Its time is that of `body` plus the recording.
Side recorded_side(std::string name, std::function<void()> body, bool shapes) {
  auto profiler = std::make_shared<std::optional<profile::Profiler>>();
  return {
      std::move(name), std::move(body),
      [profiler, shapes] { profiler->emplace(profile::ProfilerOptions{.record_shapes = shapes}); },
      [profiler] { profiler->reset(); }};
}

int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

// Peak resident memory of recording, merging and writing, minus the resident memory before, per
// event.
double bytes_per_event() {
  const auto path = std::filesystem::temp_directory_path() /
                    ("epilogue_bench_" + std::to_string(::getpid()) + ".json");
  const Tensor x = empty({64, 128});
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const int64_t before = status_bytes("VmRSS");
  {
    profile::Profiler profiler;
    for (int64_t i = 0; i < kManyEvents; ++i) benchmark::DoNotOptimize(view(x, {8192}));
    profiler.stop();
    const auto written = trace::write(profiler.trace(), path);
    if (!written) throw Error(written.error().message);
  }
  std::filesystem::remove(path);
  return static_cast<double>(status_bytes("VmHWM") - before) / static_cast<double>(kManyEvents);
}

}  // namespace

void add_profile(Suite& suite) {
  const Tensor x = empty({64, 128, 768});
  const Dims shape{8192, 768};
  const auto one_view = [x, shape] { benchmark::DoNotOptimize(view(x, shape)); };
  suite.add("profile_op", {"a recorded view op in total, ns",
                           recorded_side("view, recorded", one_view, false),
                           {},
                           Bound::kAtMost,
                           kRecordedLimitNs,
                           kCalls});
  suite.add("profile_shapes", {"a recorded view op with its inputs, ns",
                               recorded_side("view, recorded with inputs", one_view, true),
                               {},
                               Bound::kAtMost,
                               kShapesLimitNs,
                               kCalls});
  const auto with_hook = [x, shape] { benchmark::DoNotOptimize(dispatch(Op::kView, {x, shape})); };
  const auto without_hook = [x, shape] {
    benchmark::DoNotOptimize(dispatch_without_hooks(Op::kView, {x, shape}));
  };
  suite.add("profile_hook", {"the hook without a listener, ns",
                             {"dispatch", with_hook},
                             {"dispatch without the hook", without_hook},
                             Bound::kSlowerByAtMost,
                             kHookLimitNs,
                             kCalls});
  suite.add("profile_memory", Measurement{"10 M ops recorded and written, peak bytes per event",
                                          "B", kBytesPerEventLimit, bytes_per_event});
#ifdef EPI_HAS_CUDA
  add_profile_gpu(suite);
#endif
}

}  // namespace epi::bench
